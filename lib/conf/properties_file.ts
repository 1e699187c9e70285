/**
 * Reads the text of a properties file such as `spark-defaults.conf`: a key and
 * a value a line, with blanks, `=` or `:` between; `#` and `!` begin comments;
 * a backslash at the end of a line continues it (the rules of
 * `java.util.Properties`, and values are trimmed as Spark does).
 */
export function parseProperties(text: string): [string, string][] {
  const properties: [string, string][] = [];
  for (const line of logicalLines(text)) {
    const match = /^((?:\\.|[^\\\s=:])+)(?:\s*[=:]\s*|\s+|$)(.*)$/s.exec(line);
    if (match) properties.push([unescape(match[1]), unescape(match[2]).trim()]);
  }
  return properties;
}

function* logicalLines(text: string): Generator<string> {
  let line = "";
  for (const natural of text.split(/\r\n|\n|\r/)) {
    const start = natural.trimStart();
    if (line === "" && (start === "" || /^[#!]/.test(start))) continue;
    // An odd number of backslashes at the end: the last one isn't escaped.
    const slashes = /\\*$/.exec(start)![0].length;
    if (slashes % 2 === 1) {
      line += start.slice(0, -1);
    } else {
      yield line + start;
      line = "";
    }
  }
  if (line !== "") yield line;
}

function unescape(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|(.))/gs,
    (_, code: string | undefined, character: string) =>
      code !== undefined
        ? String.fromCharCode(parseInt(code, 16))
        : ({ t: "\t", n: "\n", r: "\r", f: "\f" })[character] ?? character,
  );
}

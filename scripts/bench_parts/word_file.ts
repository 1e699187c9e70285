const WORDS = 6_000_000;
const DISTINCT = 50_000;
const WORDS_A_LINE = 12;

/**
 * Writes a text of 6 million words, 50,000 distinct, some 40 MB. It is the
 * same each time.
 */
export function writeWordFile(path: string): void {
  using file = Deno.openSync(path, { write: true, createNew: true });
  const encoder = new TextEncoder();
  const names = Array.from({ length: DISTINCT }, (_, i) => nameOf(i));
  let seed = 1;
  let lines: string[] = [];
  for (let at = 0; at < WORDS; at += WORDS_A_LINE) {
    const line: string[] = [];
    for (let i = at; i < Math.min(at + WORDS_A_LINE, WORDS); i++) {
      // A step of a linear congruential generator; its high bits are the good ones.
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      line.push(names[Math.floor(seed / 2 ** 32 * DISTINCT)]);
    }
    lines.push(line.join(" "));
    if (lines.length === 10_000) flush();
  }
  flush();

  function flush(): void {
    const bytes = encoder.encode(lines.map((line) => `${line}\n`).join(""));
    for (let at = 0; at < bytes.length;) {
      at += file.writeSync(bytes.subarray(at));
    }
    lines = [];
  }
}

/**
 * From 3 to 9 letters, so that a word and its space take 7 bytes on average.
 * The first four letters write the index to the base of 26, or of a word of
 * three letters its first three: no two are the same.
 */
function nameOf(index: number): string {
  const length = index < 26 ** 3 && index % 7 < 3 ? 3 : 4 + index % 6;
  let letters = "";
  for (let rest = index, i = 0; i < length; i++) {
    letters += String.fromCharCode(97 + (i < 4 ? rest % 26 : (index + i) % 26));
    rest = Math.floor(rest / 26);
  }
  return letters;
}

/**
 * What the word count is measured against: what one would write without a
 * cluster. Prints how many words there are, and the seconds.
 *
 * @module
 */
const start = performance.now();
const counts = new Map<string, number>();
// Line by line, because to split the whole text takes half as long again.
for (const line of Deno.readTextFileSync(Deno.args[0]).split("\n")) {
  for (const word of line.split(/\s+/)) {
    if (word !== "") counts.set(word, (counts.get(word) ?? 0) + 1);
  }
}
const seconds = (performance.now() - start) / 1_000;
const total = counts.values().reduce((sum, count) => sum + count, 0);
console.log(JSON.stringify({ seconds, distinct: counts.size, total }));

/**
 * Makes the table of class descriptors, lib/jvm/descriptors/descriptors.json,
 * from the jars of Spark's releases.
 *
 *     scripts/spark-descriptors            writes the table
 *     scripts/spark-descriptors --check    says where the table is not right
 *
 * A release's jars are those of its distribution in the cache, where
 * scripts/spark-distribution put it, or come from Maven.
 *
 * @module
 */
import {
  formatTable,
  type LineDescriptors,
  listDescriptors,
  makeTable,
  mergeReleases,
} from "./descriptors.ts";
import { jarsOf } from "./jars.ts";
import { LINES } from "./releases.ts";

const target = new URL(
  "../../lib/jvm/descriptors/descriptors.json",
  import.meta.url,
);
const lines: LineDescriptors[] = [];
for (const line of LINES) {
  const releases = [];
  for (const release of line.releases) {
    console.error(`Spark ${release.version}: reading the descriptors`);
    const jars = await jarsOf(release, line);
    const descriptors = await listDescriptors(jars);
    releases.push({ version: release.version, descriptors });
  }
  lines.push({ line, descriptors: mergeReleases(releases) });
}
const text = formatTable(makeTable(lines));
if (Deno.args.includes("--check")) {
  const table = JSON.parse(await Deno.readTextFile(target));
  if (JSON.stringify(table) !== JSON.stringify(JSON.parse(text))) {
    console.error("The table differs from the jars: make it anew.");
    Deno.exit(1);
  }
  console.error("The table is right.");
} else {
  await Deno.writeTextFile(target, text);
  console.error(`Wrote ${target.pathname}`);
}

import { assert, assertEquals } from "@std/assert";
import {
  knownClassNames,
  knownForms,
  PeerDescriptors,
  SPARK_LINES,
  type SparkLine,
} from "../../../lib/jvm/descriptors/mod.ts";
import type { ClassDescriptor } from "../../../lib/jvm/stream/mod.ts";
import { listDescriptors } from "../../../scripts/spark_descriptors/descriptors.ts";
import { fetchedReleases } from "../../../scripts/fetched_releases.ts";
import { canRun } from "../../process/harness.ts";
import { LINES } from "../../../scripts/spark_descriptors/releases.ts";
import { capturedDescriptors, capturedMessages } from "../captured.ts";

/** A line's descriptor of a class as the table alone has it. */
function inLine(
  line: SparkLine,
  className: string,
): ClassDescriptor | undefined {
  return knownForms(className).find(({ lines }) => lines.includes(line))
    ?.describe((name) => inLine(line, name)!);
}

function lineOf(release: string): SparkLine {
  return SPARK_LINES.find(({ releases }) => releases.includes(release))!;
}

Deno.test("descriptors: the table has the lines and releases that the script compares", () => {
  assertEquals(
    SPARK_LINES.map(({ name, scala, releases }) => ({ name, scala, releases })),
    LINES.map(({ name, scala, releases }) => ({
      name,
      scala,
      releases: releases.map(({ version }) => version),
    })),
  );
});

Deno.test("descriptors: no class has two forms in one line, or one number in two forms", () => {
  for (const name of knownClassNames()) {
    const forms = knownForms(name);
    const lines = forms.flatMap((form) => form.lines);
    assertEquals(new Set(lines).size, lines.length, name);
    const numbers = forms.map((form) => form.serialVersionUID);
    assertEquals(new Set(numbers).size, numbers.length, name);
  }
});

Deno.test("descriptors: each superclass in the table is there in the same lines", () => {
  for (const name of knownClassNames()) {
    for (const { lines, describe } of knownForms(name)) {
      describe((superclass) => {
        for (const line of lines) {
          assert(
            inLine(line, superclass) !== undefined,
            `${name}: ${superclass} is not in ${line.name}`,
          );
        }
        return inLine(lines[0], superclass)!;
      });
    }
  }
});

Deno.test("descriptors: fields stand as they do in a stream: primitives first, each kind by name", () => {
  for (const line of SPARK_LINES) {
    for (const name of knownClassNames()) {
      const fields = inLine(line, name)?.fields ?? [];
      const keys = fields.map(({ type, name }) =>
        (type === "L" || type === "[" ? "1" : "0") + name
      );
      assertEquals(keys, [...keys].sort(), `${name} in ${line.name}`);
      for (const { type, className } of fields) {
        assertEquals(className !== null, type === "L" || type === "[");
      }
    }
  }
});

for (const release of ["3.5.9", "4.3.0"]) {
  Deno.test(`descriptors: the table has the classes that ${release} sent just as they were`, () => {
    const line = lineOf(release);
    let compared = 0;
    for (const message of capturedMessages(release)) {
      for (const sent of capturedDescriptors(release, message)) {
        const known = inLine(line, sent.name);
        if (known === undefined) continue;
        assertEquals(known, sent, `${sent.name} in ${message}`);
        compared++;
      }
    }
    assert(compared > 100, `only ${compared} were compared`);
  });

  Deno.test(`descriptors: the table has each of Spark's own classes that ${release} sent`, () => {
    const names = capturedMessages(release).flatMap((message) =>
      capturedDescriptors(release, message).map(({ name }) => name)
    );
    const missing = new Set(
      names.filter((name) =>
        name.startsWith("org.apache.spark.") && knownForms(name).length === 0
      ),
    );
    assertEquals([...missing], []);
  });
}

const hasJava = canRun("javac", "-version");
for (const release of SPARK_LINES.flatMap(({ releases }) => releases)) {
  const home = fetchedReleases().find(({ version }) => version === release)
    ?.home;
  const jars = home === undefined ? undefined : `${home}/jars`;
  // Only what a person put there: this test fetches nothing.
  if (jars === undefined && !["3.5.9", "4.3.0"].includes(release)) continue;
  const without = !hasJava
    ? " (skipped: there is no javac)"
    : jars === undefined
    ? ` (skipped: its jars are not there; scripts/spark-distribution ${release} fetches them)`
    : "";
  Deno.test({
    name: `descriptors: the table is what the jars of ${release} say${without}`,
    ignore: without !== "",
    async fn() {
      const line = lineOf(release);
      const listed = await listDescriptors(jars!);
      for (const [name, descriptor] of listed) {
        assertEquals(inLine(line, name), descriptor, name);
      }
      const known = knownClassNames().filter((name) => inLine(line, name));
      assertEquals(known.sort(), [...listed.keys()].sort());
    },
  });
}

Deno.test("descriptors: each class of the table can be had for a peer of any line that has it", () => {
  const peer = new PeerDescriptors();
  const latest = SPARK_LINES[SPARK_LINES.length - 1];
  for (const name of knownClassNames()) {
    const expected = inLine(latest, name);
    if (expected !== undefined) assertEquals(peer.get(name), expected);
  }
});

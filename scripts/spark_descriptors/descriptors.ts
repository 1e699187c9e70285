/**
 * From jars to the table.
 *
 * @module
 */
import {
  type ClassDescriptor,
  readJavaStream,
} from "../../lib/jvm/stream/mod.ts";
import { CLASS_NAMES, type Line } from "./releases.ts";

export type Descriptors = ReadonlyMap<string, ClassDescriptor>;

export interface LineDescriptors {
  readonly line: Line;
  readonly descriptors: Descriptors;
}

/**
 * The descriptors that the classes of a folder of jars have, with those that
 * they extend.
 *
 * @throws {Error} with Java's own words when it fails.
 */
export async function listDescriptors(jars: string): Promise<Descriptors> {
  const output = await Deno.makeTempFile();
  try {
    const program = new URL("ListDescriptors.java", import.meta.url).pathname;
    const result = await new Deno.Command("java", {
      args: [program, output, jars, ...CLASS_NAMES],
      stdout: "null",
      stderr: "piped",
    }).output();
    if (!result.success) {
      throw new Error(new TextDecoder().decode(result.stderr));
    }
    const descriptors = new Map<string, ClassDescriptor>();
    readJavaStream(await Deno.readFile(output), {
      onDescriptor: (descriptor) =>
        descriptors.set(descriptor.name, descriptor),
    });
    return descriptors;
  } finally {
    await Deno.remove(output);
  }
}

/**
 * The descriptors of a line.
 *
 * @throws {Error} naming the class in which two of its releases differ.
 */
export function mergeReleases(
  releases: readonly { version: string; descriptors: Descriptors }[],
): Descriptors {
  const merged = new Map<string, ClassDescriptor>();
  for (const { version, descriptors } of releases) {
    for (const [name, descriptor] of descriptors) {
      const before = merged.get(name);
      if (before === undefined) merged.set(name, descriptor);
      else if (formOf(before) !== formOf(descriptor)) {
        throw new Error(
          `${name} of ${version} differs from that of the releases before it`,
        );
      }
    }
  }
  return merged;
}

/** The table as it is kept: a form that several lines share stands once. */
export function makeTable(lines: readonly LineDescriptors[]) {
  const names = new Set(
    lines.flatMap(({ descriptors }) => [...descriptors.keys()]),
  );
  const classes: Record<string, object[]> = {};
  for (const name of [...names].sort()) {
    const forms = new Map<string, number[]>();
    lines.forEach(({ descriptors }, index) => {
      const descriptor = descriptors.get(name);
      if (descriptor === undefined) return;
      const form = formOf(descriptor);
      forms.set(form, [...forms.get(form) ?? [], index]);
    });
    classes[name] = [...forms].map(([form, indexes]) => ({
      lines: indexes,
      ...JSON.parse(form),
    }));
  }
  return {
    "//": "Made by scripts/spark-descriptors from Spark's jars: not to be " +
      "edited by hand.",
    lines: lines.map(({ line: { name, scala, releases } }) => ({
      name,
      scala,
      releases: releases.map(({ version }) => version),
    })),
    classes,
  };
}

/** JSON with a line for each form of a class, so that changes read well. */
export function formatTable(table: ReturnType<typeof makeTable>): string {
  const { classes, ...head } = table;
  const entries = Object.entries(classes).map(([name, forms]) =>
    `    ${JSON.stringify(name)}: [\n` +
    forms.map((form) => `      ${JSON.stringify(form)}`).join(",\n") +
    "\n    ]"
  );
  const start = JSON.stringify(head, null, 2).replace(/\n\}$/, "");
  return `${start},\n  "classes": {\n${entries.join(",\n")}\n  }\n}\n`;
}

function formOf(descriptor: ClassDescriptor): string {
  return JSON.stringify({
    uid: String(descriptor.serialVersionUID),
    flags: descriptor.flags,
    fields: descriptor.fields.map(({ type, name, className }) =>
      [type, name, className?.value].filter(Boolean).join(" ")
    ),
    super: descriptor.superclass?.name ?? null,
  });
}

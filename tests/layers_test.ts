/**
 * Holds the direction of imports: what is above may import what is below, never the other
 * way, so that a layer can be read, tested and replaced without those above it.
 */

import { assertEquals } from "@std/assert";

/** Top first: a part imports parts of later rows, itself, and what SIDEWAYS adds. */
const LAYERS: readonly (readonly string[])[] = [
  ["main"],
  ["cmd"],
  ["mod"], // lib/mod.ts: what an application may import
  ["master", "worker", "executor", "driver"],
  ["rdd", "shuffle", "closure", "web", "jvm", "process"],
  ["rpc"],
  ["messages"],
  ["conf"],
  ["log"], // lib/log.ts
  ["util"],
];

/** What a part may import of its own row. */
const SIDEWAYS: Readonly<Record<string, readonly string[]>> = {
  rdd: ["shuffle", "closure"], // operators write and read shuffles, and capture functions
};

/** Who may import a package: paths, or folders with a slash at their end. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "@std/assert": ["tests/"],
  "@std/cli": ["main.ts", "cmd/", "lib/", "scripts/", "tests/"],
  "@std/log": ["lib/log.ts"],
  "@std/streams": ["cmd/", "lib/", "scripts/", "tests/"],
  "acorn": ["lib/closure/"],
  "eslint-scope": ["lib/closure/"],
  "fast-check": ["tests/"],
};

interface SourceFile {
  /** Relative to the root of the checkout, with slashes. */
  readonly path: string;
  readonly text: string;
}

interface Import {
  readonly specifier: string;
  /** `type`: erased before anything runs. `dynamic`: runs when it is reached. */
  readonly kind: "value" | "type" | "dynamic";
}

/** The imports of a formatted TypeScript file: statements begin in the first column. */
function importsOf(text: string): Import[] {
  const imports: Import[] = [];
  const statement =
    /^(?:import|export)\s+(type\s+)?(?:([\w*${}\s,]*?)\s*from\s*)?"([^"\n]+)"/gm;
  for (const [, type, names, specifier] of text.matchAll(statement)) {
    const kind = type !== undefined || onlyTypes(names) ? "type" : "value";
    imports.push({ specifier, kind });
  }
  const code = text.replace(/^\s*(?:\*|\/\/|\/\*).*$/gm, "");
  for (const [, specifier] of code.matchAll(/\bimport\(\s*"([^"\n]+)"/g)) {
    imports.push({ specifier, kind: "dynamic" });
  }
  return imports;
}

/** Whether a list of names is in braces, each with `type` before it. */
function onlyTypes(names: string | undefined): boolean {
  const list = /^\{([^}]*)\}$/.exec(names ?? "")?.[1];
  if (list === undefined) return false;
  const parts = list.split(",").map((name) => name.trim()).filter((name) =>
    name !== ""
  );
  return parts.length > 0 && parts.every((name) => name.startsWith("type "));
}

/** The part that a file belongs to; undefined for files that no layer holds. */
function partOf(path: string): string | undefined {
  if (path === "main.ts") return "main";
  if (path.startsWith("cmd/")) return "cmd";
  return /^lib\/([^/]+?)(?:\.ts|\/.*)$/.exec(path)?.[1];
}

function layerOf(part: string): number {
  return LAYERS.findIndex((row) => row.includes(part));
}

function mayImport(from: string, to: string): boolean {
  if (from === to) return true;
  return layerOf(from) < layerOf(to) || (SIDEWAYS[from] ?? []).includes(to);
}

/** The path that a relative specifier names. */
function resolve(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

function isRelative(specifier: string): boolean {
  return /^\.\.?\//.test(specifier);
}

/** One sentence for each import that breaks a rule. */
function findViolations(files: readonly SourceFile[]): string[] {
  const found: string[] = [];
  for (const { path, text } of files) {
    const part = partOf(path);
    if (part !== undefined && layerOf(part) < 0) {
      found.push(`${path}: ${part} has no place in LAYERS`);
      continue;
    }
    for (const { specifier } of importsOf(text)) {
      if (!isRelative(specifier)) {
        const wrong = packageViolation(path, specifier);
        if (wrong !== undefined) found.push(wrong);
        continue;
      }
      if (part === undefined) continue;
      const target = resolve(path, specifier);
      const targetPart = partOf(target);
      if (targetPart === undefined) {
        found.push(
          `${path} imports ${target}, which is no part of the program`,
        );
      } else if (layerOf(targetPart) >= 0 && !mayImport(part, targetPart)) {
        found.push(
          `${path} imports ${target}: ${part} is not above ${targetPart}`,
        );
      }
    }
  }
  return [...found, ...findCycles(files)];
}

function packageViolation(path: string, specifier: string): string | undefined {
  if (specifier.startsWith("node:")) return undefined;
  const name = Object.keys(PACKAGES).find((name) =>
    specifier === name || specifier.startsWith(`${name}/`)
  );
  if (name === undefined) {
    return `${path} imports ${specifier}, which has no place in PACKAGES`;
  }
  const allowed = PACKAGES[name].some((place) =>
    place.endsWith("/") ? path.startsWith(place) : path === place
  );
  return allowed
    ? undefined
    : `${path} imports ${specifier}, which only ${
      PACKAGES[name].join(", ")
    } may`;
}

/** Rings of files of lib/ that need one another before any of them has run. */
function findCycles(files: readonly SourceFile[]): string[] {
  const edges = new Map<string, string[]>();
  for (const { path, text } of files) {
    if (!path.startsWith("lib/")) continue;
    edges.set(
      path,
      importsOf(text)
        .filter(({ kind, specifier }) =>
          kind === "value" && isRelative(specifier)
        )
        .map(({ specifier }) => resolve(path, specifier)),
    );
  }
  const found: string[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (path: string) => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      found.push(
        `import cycle: ${[...trail.slice(start), path].join(" -> ")}`,
      );
      return;
    }
    if (done.has(path)) return;
    trail.push(path);
    for (const target of edges.get(path) ?? []) visit(target);
    trail.pop();
    done.add(path);
  };
  for (const path of edges.keys()) visit(path);
  return found;
}

async function readSources(): Promise<SourceFile[]> {
  const root = new URL("../", import.meta.url);
  const files: SourceFile[] = [];
  const walk = async (folder: string) => {
    for await (const entry of Deno.readDir(new URL(folder || ".", root))) {
      const path = folder + entry.name;
      if (entry.isDirectory) {
        if (folder !== "" || ["cmd", "lib", "scripts"].includes(entry.name)) {
          await walk(`${path}/`);
        }
      } else if (entry.isFile && path.endsWith(".ts")) {
        files.push({
          path,
          text: await Deno.readTextFile(new URL(path, root)),
        });
      }
    }
  };
  await walk("");
  return files;
}

Deno.test("layers: imports run down, never up or across", async () => {
  const files = await readSources();
  assertEquals(files.some(({ path }) => path === "lib/log.ts"), true);
  assertEquals(findViolations(files), []);
});

Deno.test("layers: the checker sees every form of import", () => {
  const text = `
import "./a.ts";
import b from "./b.ts";
import * as c from "./c.ts";
import {
  d,
  type D,
} from "./d.ts";
import type { E } from "./e.ts";
import { type F, type FF } from "./f.ts";
export * from "./g.ts";
export { h } from "./h.ts";
export type { I } from "./i.ts";
/**
 * import { no } from "./no.ts";
 */
// const no = await import("./no.ts");
const j = await import("./j.ts");
const k = import(
  "./k.ts"
);
export const no = "./no.ts";
`;
  assertEquals(
    importsOf(text).map(({ specifier, kind }) => `${specifier} ${kind}`),
    [
      "./a.ts value",
      "./b.ts value",
      "./c.ts value",
      "./d.ts value",
      "./e.ts type",
      "./f.ts type",
      "./g.ts value",
      "./h.ts value",
      "./i.ts type",
      "./j.ts dynamic",
      "./k.ts dynamic",
    ],
  );
});

/** What the checker finds in a program of the given files, each with one line of text. */
function violations(files: Record<string, string>): string[] {
  return findViolations(
    Object.entries(files).map(([path, text]) => ({ path, text })),
  );
}

Deno.test("layers: arrows that run down, and within a part, are allowed", () => {
  assertEquals(
    violations({
      "main.ts": `const m = await import("./cmd/master.ts");`,
      "cmd/master.ts": `import { run } from "../lib/master/shell.ts";`,
      "lib/mod.ts": `export { RDD } from "./rdd/rdd.ts";`,
      "lib/master/shell.ts": `import { Core } from "./core.ts";`,
      "lib/master/core.ts":
        `import type { State } from "../messages/states.ts";`,
      "lib/rdd/rdd.ts": `import { capture } from "../closure/capture.ts";`,
      "lib/closure/capture.ts": `import { parse } from "acorn";`,
      "lib/rpc/connection.ts": `import { getLogger } from "../log.ts";`,
      "lib/log.ts": `import { BaseHandler } from "@std/log";`,
    }),
    [],
  );
});

Deno.test("layers: an arrow that runs up or across is found, even one of types only", () => {
  assertEquals(
    violations({
      "lib/rpc/a.ts": `import { x } from "../master/a.ts";`,
      "lib/conf/a.ts": `import type { X } from "../messages/a.ts";`,
      "lib/master/a.ts": `const x = await import("../worker/a.ts");`,
      "lib/shuffle/a.ts": `export * from "../rdd/a.ts";`,
      "lib/driver/a.ts": `import { RDD } from "../mod.ts";`,
      "lib/log.ts": `import { x } from "./conf/a.ts";`,
    }),
    [
      "lib/rpc/a.ts imports lib/master/a.ts: rpc is not above master",
      "lib/conf/a.ts imports lib/messages/a.ts: conf is not above messages",
      "lib/master/a.ts imports lib/worker/a.ts: master is not above worker",
      "lib/shuffle/a.ts imports lib/rdd/a.ts: shuffle is not above rdd",
      "lib/driver/a.ts imports lib/mod.ts: driver is not above mod",
      "lib/log.ts imports lib/conf/a.ts: log is not above conf",
    ],
  );
});

Deno.test("layers: a part that nobody placed, and imports from outside the program, are found", () => {
  assertEquals(
    violations({
      "lib/novel/a.ts": `export const x = 1;`,
      "lib/worker/a.ts": `import { x } from "../../tests/helper.ts";`,
    }),
    [
      "lib/novel/a.ts: novel has no place in LAYERS",
      "lib/worker/a.ts imports tests/helper.ts, which is no part of the program",
    ],
  );
});

Deno.test("layers: each package is imported only where it belongs", () => {
  assertEquals(
    violations({
      "lib/master/a.ts": `import { getLogger } from "@std/log";`,
      "lib/rdd/a.ts": `import { parse } from "acorn";`,
      "lib/conf/a.ts": `import { assert } from "@std/assert/assert";`,
      "cmd/a.ts": `import fc from "fast-check";`,
      "lib/web/a.ts": `import { Hono } from "npm:hono";`,
      "scripts/examples/a.ts": `import { x } from "node:fs";`,
    }),
    [
      "lib/master/a.ts imports @std/log, which only lib/log.ts may",
      "lib/rdd/a.ts imports acorn, which only lib/closure/ may",
      "lib/conf/a.ts imports @std/assert/assert, which only tests/ may",
      "cmd/a.ts imports fast-check, which only tests/ may",
      "lib/web/a.ts imports npm:hono, which has no place in PACKAGES",
    ],
  );
});

Deno.test("layers: a ring of imports is found, unless types or a dynamic import close it", () => {
  assertEquals(
    violations({
      "lib/rpc/a.ts": `import { b } from "./b.ts";`,
      "lib/rpc/b.ts": `import { c } from "./c.ts";`,
      "lib/rpc/c.ts": `import { b } from "./b.ts";`,
      "lib/conf/a.ts": `import { b } from "./b.ts";`,
      "lib/conf/b.ts": `import type { A } from "./a.ts";`,
      "lib/util/a.ts": `import { b } from "./b.ts";`,
      "lib/util/b.ts": `const a = import("./a.ts");`,
    }),
    ["import cycle: lib/rpc/b.ts -> lib/rpc/c.ts -> lib/rpc/b.ts"],
  );
});

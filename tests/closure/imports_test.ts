import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { join } from "node:path";
import * as path from "node:path";
import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import assertModule from "node:assert";
import { parse } from "acorn";
import Formatter, { describe } from "./fixtures/helpers.ts";
import * as helpers from "./fixtures/helpers.ts";
import { roundTrip } from "./round_trip.ts";

Deno.test("closure: a helper from a relative module travels by value with what it uses", async () => {
  const restored = await roundTrip((name: string) => describe(`/tmp/${name}`));
  assertEquals(restored("file.txt"), "> file.txt in units");
});

Deno.test("closure: a default export of a relative module", async () => {
  const restored = await roundTrip(() => new Formatter().format(1));
  assertEquals(restored(), "1.00 unit");
});

Deno.test("closure: of a namespace only the members that are used travel", async () => {
  const restored = await roundTrip(() =>
    helpers.describe("/a") + helpers.settings.prefix
  );
  assertEquals(restored(), "> a in units>");
});

Deno.test("closure: imports from node: and packages travel as imports", async () => {
  const restored = await roundTrip(() => ({
    join,
    path,
    assertModule,
    parse,
    EventEmitter,
  }));
  const found = restored();
  assertStrictEquals(found.join, join);
  assertStrictEquals(found.path, path);
  assertStrictEquals(found.assertModule, assertModule);
  assertStrictEquals(found.parse, parse);
  const emitter = await roundTrip(() =>
    new EventEmitter() instanceof EventEmitter
  );
  assert(emitter());
});

Deno.test("closure: import.meta names the module that the function came from", async () => {
  const restored = await roundTrip(
    () => [import.meta.url, import.meta.filename, import.meta.dirname],
  );
  assertEquals(restored(), [
    import.meta.url,
    import.meta.filename,
    import.meta.dirname,
  ]);
});

Deno.test("closure: a dynamic import is relative to the module that the function came from", async () => {
  const restored = await roundTrip(async () => {
    const { unitName } = await import("./fixtures/units.ts");
    const { sep } = await import("node:path");
    return unitName(1) + sep;
  });
  assertEquals(await restored(), "unit/");
});

Deno.test("closure: functions of a CommonJS module stay as strict as they were", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(
      `${folder}/m.cjs`,
      "const k = 4; let n = 0;\n" +
        "module.exports = { scale(x) { return x * k; }, next() { return ++n; }, self: function () { return typeof this; } };\n",
    );
    const module = createRequire(import.meta.url)(`${folder}/m.cjs`);
    const restored = await roundTrip(module);
    assertEquals([restored.scale(2), restored.next(), restored.next()], [
      8,
      1,
      2,
    ]);
    assertEquals(Reflect.apply(restored.self, undefined, []), "object");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

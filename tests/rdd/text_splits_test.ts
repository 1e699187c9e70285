import { assertEquals, assertThrows } from "@std/assert";
import {
  InputPathError,
  InputPathNotFoundError,
  listTextSplits,
} from "../../lib/rdd/text_splits.ts";
import {
  expandBraces,
  globSegmentToRegExp,
  GlobSyntaxError,
  splitAtCommas,
} from "../../lib/rdd/glob.ts";

/** Makes files (name → content) in a directory that lives as long as `body` runs. */
function withFiles(
  files: Record<string, string | number>,
  body: (dir: string) => void,
): void {
  const dir = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    for (const [name, content] of Object.entries(files)) {
      const path = `${dir}/${name}`;
      Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      const text = typeof content === "number" ? "x".repeat(content) : content;
      Deno.writeTextFileSync(path, text);
    }
    body(dir);
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
}

/** The names, below `dir`, of the files that `path` stands for. */
function names(dir: string, path: string): string[] {
  return listTextSplits(path, { minPartitions: 1 }).map((split) =>
    split.path.slice(dir.length + 1)
  );
}

Deno.test("text splits: a directory stands for its direct files, without hidden names and nested directories", () => {
  withFiles({
    "b": 1,
    "a": 1,
    "_SUCCESS": 1,
    ".a.crc": 1,
    "sub/c": 1,
    "_temporary/d": 1,
  }, (dir) => {
    assertEquals(names(dir, dir), ["a", "b"]);
    assertEquals(names(dir, `${dir}/`), ["a", "b"]);
    assertEquals(names(dir, `${dir}/_SUCCESS`), ["_SUCCESS"]);
  });
});

Deno.test("text splits: a comma separates paths, and all files come sorted by path", () => {
  withFiles(
    { "z": 1, "d/b": 1, "d/a": 1, "a,b": 1 },
    (dir) => {
      assertEquals(names(dir, `${dir}/z,${dir}/d`), ["d/a", "d/b", "z"]);
      assertEquals(names(dir, `${dir}/z,${dir}/z`), ["z", "z"]);
      assertEquals(names(dir, `${dir}/a\\,b`), ["a,b"]);
      assertThrows(() => names(dir, `${dir}/z,`), InputPathError, "empty");
    },
  );
});

Deno.test("text splits: globs match in names and in directories of the path", () => {
  withFiles({
    "2024/01/a.log": 1,
    "2024/02/b.log": 1,
    "2025/01/c.log": 1,
    "2025/01/c.txt": 1,
    "2025/_temporary/d.log": 1,
    "2025/01/.hidden.log": 1,
    "x[1].log": 1,
    "x1.log": 1,
    "é😀.log": 1,
  }, (dir) => {
    assertEquals(names(dir, `${dir}/*/*/*.log`), [
      "2024/01/a.log",
      "2024/02/b.log",
      "2025/01/c.log",
    ]);
    assertEquals(names(dir, `${dir}/202[!4]/0?/*`), [
      "2025/01/c.log",
      "2025/01/c.txt",
    ]);
    assertEquals(names(dir, `${dir}/{2024/02,2025/*}/{b,c}.{log,txt}`), [
      "2024/02/b.log",
      "2025/01/c.log",
      "2025/01/c.txt",
    ]);
    assertEquals(names(dir, `${dir}/{2024/01,2024/0*}`), [
      "2024/01/a.log",
      "2024/02/b.log",
    ]);
    assertEquals(names(dir, `${dir}/x[1].log`), ["x1.log"]);
    assertEquals(names(dir, `${dir}/x\\[1\\].log`), ["x[1].log"]);
    assertEquals(names(dir, `${dir}/é?.log`), ["é😀.log"]);
    assertEquals(names(dir, `${dir}/é😀.l*`), ["é😀.log"]);
    assertEquals(names(dir, `${dir}/{x1.log,2024/01/a.log},${dir}/x1.*`), [
      "2024/01/a.log",
      "x1.log",
      "x1.log",
    ]);
  });
});

Deno.test("text splits: a path without a leading slash is relative to the current directory", () => {
  const [split] = listTextSplits("deno.json", { minPartitions: 1 });
  assertEquals(split.path, `${Deno.cwd()}/deno.json`);
  const [globbed] = listTextSplits("den?.js*", { minPartitions: 1 });
  assertEquals(globbed.path, `${Deno.cwd()}/deno.json`);
});

Deno.test("text splits: a file URL is a path with its escapes undone, any other scheme is refused", () => {
  withFiles({ "a b": 1, "c*": 1, "cd": 1 }, (dir) => {
    assertEquals(names(dir, `file://${dir}/a%20b`), ["a b"]);
    assertEquals(names(dir, `file:${dir}/a%20b`), ["a b"]);
    assertEquals(names(dir, `file://localhost${dir}/c%2A`), ["c*"]);
    assertEquals(names(dir, `file://${dir}/c*`), ["c*", "cd"]);
    for (const path of ["hdfs://n:9000/a", "s3a://b/c"]) {
      assertThrows(
        () => names(dir, path),
        InputPathError,
        "No FileSystem for scheme",
      );
    }
    assertThrows(
      () => names(dir, "file://other/a"),
      InputPathError,
      "of this host",
    );
    assertThrows(
      () => names(dir, `file://${dir}/%ff`),
      InputPathError,
      "percent",
    );
  });
});

Deno.test("text splits: a path that does not exist or a glob without a match is refused with its name", () => {
  withFiles({ "a": 1 }, (dir) => {
    assertThrows(
      () => names(dir, `${dir}/nope`),
      InputPathNotFoundError,
      `Input path does not exist: ${dir}/nope`,
    );
    assertThrows(
      () => names(dir, `${dir}/a/b`),
      InputPathNotFoundError,
      "does not exist",
    );
    assertThrows(
      () => names(dir, `${dir}/a,${dir}/n*`),
      InputPathNotFoundError,
      `Input Pattern ${dir}/n* matches 0 files`,
    );
    assertThrows(
      () => names(dir, `${dir}/{x,y}`),
      InputPathNotFoundError,
      "matches 0 files",
    );
    Deno.symlinkSync(`${dir}/gone`, `${dir}/link`);
    assertThrows(() => names(dir, dir), InputPathNotFoundError, "link");
  });
});

Deno.test("text splits: what is no text is refused: devices and unknown compressions", () => {
  withFiles({ "a.bz2": 1, "b.zst": 1 }, (dir) => {
    assertThrows(
      () => names("", "/dev/null"),
      InputPathError,
      "neither a file",
    );
    assertThrows(() => names(dir, `${dir}/a.bz2`), InputPathError, ".bz2");
    assertThrows(() => names(dir, `${dir}/b.zst`), InputPathError, ".zst");
  });
});

Deno.test("text splits: a file is cut at total size over minPartitions, the last part up to a tenth longer", () => {
  withFiles({ "a": 100, "b": 20 }, (dir) => {
    const cut = (path: string, minPartitions: number, splitSize?: number) =>
      listTextSplits(path, { minPartitions, splitSize })
        .map(({ start, length }) => [start, length]);
    assertEquals(cut(`${dir}/a`, 1), [[0, 100]]);
    assertEquals(cut(`${dir}/a`, 0), [[0, 100]]);
    assertEquals(cut(`${dir}/a`, 2), [[0, 50], [50, 50]]);
    // 100 / 3 = 33, and 34 left is within the slop of 1.1.
    assertEquals(cut(`${dir}/a`, 3), [[0, 33], [33, 33], [66, 34]]);
    assertEquals(cut(`${dir}/a`, 1, 60), [[0, 60], [60, 40]]);
    assertEquals(cut(`${dir}/a`, 1, 91), [[0, 100]]);
    assertEquals(cut(`${dir}/a`, 1, 90), [[0, 90], [90, 10]]);
    // The goal is over all files: 120 / 3 = 40.
    assertEquals(cut(dir, 3), [[0, 40], [40, 40], [80, 20], [0, 20]]);
    assertEquals(cut(`${dir}/b`, 1000).length, 20);
  });
});

Deno.test("text splits: a gzip file is one split, however large", () => {
  withFiles({ "a.gz": 100, "b": 10 }, (dir) => {
    assertEquals(listTextSplits(dir, { minPartitions: 11, splitSize: 7 }), [
      { path: `${dir}/a.gz`, start: 0, length: 100, compressed: true },
      { path: `${dir}/b`, start: 0, length: 7, compressed: false },
      { path: `${dir}/b`, start: 7, length: 3, compressed: false },
    ]);
  });
});

Deno.test("text splits: empty files have no split, and an input of only empty files has none at all", () => {
  withFiles({ "a": 0, "b": 0, "c": 1 }, (dir) => {
    assertEquals(names(dir, dir), ["c"]);
    assertEquals(names(dir, `${dir}/a,${dir}/b`), []);
  });
});

Deno.test("text splits: more than a million splits are refused before they are made", () => {
  const dir = Deno.makeTempDirSync();
  try {
    Deno.writeTextFileSync(`${dir}/a`, "");
    Deno.truncateSync(`${dir}/a`, 100_000_000);
    assertThrows(
      () => listTextSplits(`${dir}/a`, { minPartitions: 90_000_000 }),
      InputPathError,
      "fewer partitions",
    );
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
});

Deno.test("glob: braces nest, keep their order and may cross a slash", () => {
  assertEquals(expandBraces("a{b,c{d,e/f},}g"), [
    "abg",
    "acdg",
    "ace/fg",
    "ag",
  ]);
  assertEquals(expandBraces("\\{a,b}"), ["\\{a,b}"]);
  assertEquals(splitAtCommas("a,{b,{c,d}},e\\,f"), ["a", "{b,{c,d}}", "e\\,f"]);
});

Deno.test("glob: a name pattern takes every character but the wildcards literally", () => {
  const matches = (pattern: string, name: string) =>
    globSegmentToRegExp(pattern).test(name);
  assertEquals(matches("a.b", "a.b"), true);
  assertEquals(matches("a.b", "axb"), false);
  assertEquals(matches("a+(b)|^$-", "a+(b)|^$-"), true);
  assertEquals(matches("[a-c]x", "bx"), true);
  assertEquals(matches("[^a-c]x", "bx"), false);
  assertEquals(matches("[]x]", "]"), true);
  assertEquals(matches("[\\]x]", "]"), true);
  assertEquals(matches("[[]", "["), true);
  assertEquals(matches("a\\*", "a*"), true);
  assertEquals(matches("a\\*", "ab"), false);
  assertEquals(matches("*", "_hidden"), false);
  assertEquals(matches("_*", "_hidden"), true);
});

Deno.test("glob: a pattern that cannot be read is refused", () => {
  assertThrows(() => expandBraces("a{b,c"), GlobSyntaxError, "{ is not closed");
  assertThrows(() => globSegmentToRegExp("a[b"), GlobSyntaxError, "[");
  assertThrows(() => globSegmentToRegExp("[z-a]"), GlobSyntaxError);
  assertThrows(
    () => expandBraces("{a,b,c,d,e,f,g,h,i,j}".repeat(9)),
    GlobSyntaxError,
    "10000",
  );
});

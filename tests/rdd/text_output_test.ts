import { assertEquals, assertThrows } from "@std/assert";
import {
  abortOutput,
  commitOutput,
  OutputExistsError,
  partName,
  prepareOutput,
  TextOutputError,
  TextPartWriter,
} from "../../lib/rdd/text_output.ts";

/** Gives `body` the path of an output directory that does not exist yet. */
function withOutput(body: (dir: string) => void): void {
  const parent = Deno.makeTempDirSync();
  try {
    body(`${parent}/deep/out`);
  } finally {
    Deno.removeSync(parent, { recursive: true });
  }
}

function namesIn(dir: string): string[] {
  return [...Deno.readDirSync(dir)].map((entry) => entry.name).sort();
}

function writePart(
  dir: string,
  partition: number,
  attempt: number,
  lines: string[],
): TextPartWriter {
  const writer = new TextPartWriter(dir, { partition, attempt });
  for (const line of lines) writer.write(line);
  return writer;
}

Deno.test("text output: a job's parts and _SUCCESS are what is left of it", () => {
  withOutput((dir) => {
    prepareOutput(dir);
    writePart(dir, 0, 7, ["one", "zwölf", ""]).commit();
    writePart(dir, 1, 8, []).commit();
    assertEquals(namesIn(dir), ["_temporary", "part-00000", "part-00001"]);
    commitOutput(dir);
    assertEquals(namesIn(dir), ["_SUCCESS", "part-00000", "part-00001"]);
    assertEquals(
      Deno.readTextFileSync(`${dir}/part-00000`),
      "one\nzwölf\n\n",
    );
    assertEquals(Deno.readTextFileSync(`${dir}/part-00001`), "");
  });
});

Deno.test("text output: a directory that exists is refused and stays as it is", () => {
  withOutput((dir) => {
    Deno.mkdirSync(dir, { recursive: true });
    const error = assertThrows(() => prepareOutput(dir), OutputExistsError);
    assertEquals(error.message, `Output directory ${dir} already exists`);
    assertEquals(namesIn(dir), []);
    Deno.writeTextFileSync(`${dir}/file`, "kept");
    assertThrows(() => prepareOutput(`${dir}/file`), OutputExistsError);
    assertThrows(() => prepareOutput(`${dir}/file/out`), TextOutputError);
    assertEquals(Deno.readTextFileSync(`${dir}/file`), "kept");
  });
});

Deno.test("text output: nothing of a part is seen before its commit, nothing is left after its abort", () => {
  withOutput((dir) => {
    prepareOutput(dir);
    const writer = writePart(dir, 0, 1, ["a".repeat(1_000_000), "b"]);
    assertEquals(namesIn(dir), ["_temporary"]);
    writer.abort();
    writer.abort();
    assertEquals(namesIn(dir), ["_temporary"]);
    assertEquals(namesIn(`${dir}/_temporary`), []);
    assertThrows(() => writer.write("c"), TypeError, "aborted");
    assertThrows(() => writer.commit(), TypeError, "aborted");
  });
});

Deno.test("text output: a writer left by an error takes its file away", () => {
  withOutput((dir) => {
    prepareOutput(dir);
    assertThrows(() => {
      using writer = writePart(dir, 0, 1, ["a"]);
      writer.write("b");
      throw new Error("task failed");
    });
    assertEquals(namesIn(`${dir}/_temporary`), []);
  });
});

Deno.test("text output: two attempts at one partition leave one whole file", () => {
  withOutput((dir) => {
    prepareOutput(dir);
    const first = writePart(dir, 0, 1, ["first", "attempt"]);
    const second = writePart(dir, 0, 2, ["second"]);
    first.commit();
    second.write("attempt, longer");
    assertEquals(
      Deno.readTextFileSync(`${dir}/part-00000`),
      "first\nattempt\n",
    );
    second.commit();
    assertEquals(
      Deno.readTextFileSync(`${dir}/part-00000`),
      "second\nattempt, longer\n",
    );
    writePart(dir, 0, 3, ["third"]).abort();
    assertEquals(
      Deno.readTextFileSync(`${dir}/part-00000`),
      "second\nattempt, longer\n",
    );
  });
});

Deno.test("text output: an attempt that comes after the job's end cannot begin nor commit", () => {
  withOutput((dir) => {
    prepareOutput(dir);
    writePart(dir, 0, 1, ["good"]).commit();
    const late = writePart(dir, 0, 2, ["late"]);
    commitOutput(dir);
    assertThrows(() => late.commit(), TextOutputError, "part-00000");
    late.abort();
    assertThrows(
      () => new TextPartWriter(dir, { partition: 0, attempt: 3 }),
      TextOutputError,
      "does not exist on this host",
    );
    assertEquals(namesIn(dir), ["_SUCCESS", "part-00000"]);
    assertEquals(Deno.readTextFileSync(`${dir}/part-00000`), "good\n");
  });
});

Deno.test("text output: an aborted job leaves no directory, so that it can run again", () => {
  withOutput((dir) => {
    prepareOutput(dir);
    writePart(dir, 3, 1, ["done"]).commit();
    const unfinished = writePart(dir, 4, 2, ["not done"]);
    abortOutput(dir);
    unfinished.abort();
    abortOutput(dir);
    prepareOutput(dir);
    assertEquals(namesIn(dir), ["_temporary"]);
  });
});

Deno.test("text output: an aborted job leaves files that are not its own", () => {
  withOutput((dir) => {
    prepareOutput(dir);
    writePart(dir, 0, 1, ["done"]).commit();
    Deno.writeTextFileSync(`${dir}/notes`, "mine");
    abortOutput(dir);
    assertEquals(namesIn(dir), ["notes"]);
  });
});

Deno.test("text output: many lines arrive whole and in order", () => {
  withOutput((dir) => {
    prepareOutput(dir);
    const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i} é`);
    writePart(dir, 0, 1, lines).commit();
    assertEquals(
      Deno.readTextFileSync(`${dir}/part-00000`),
      lines.join("\n") + "\n",
    );
  });
});

Deno.test("text output: the name of a part has five digits, and more where it needs them", () => {
  assertEquals(partName(0), "part-00000");
  assertEquals(partName(123456), "part-123456");
  withOutput((dir) => {
    prepareOutput(dir);
    assertThrows(
      () => new TextPartWriter(dir, { partition: 0, attempt: "../x" }),
      TypeError,
      "must be a file name",
    );
  });
});

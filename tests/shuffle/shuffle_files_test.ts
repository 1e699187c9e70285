import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  blocksOf,
  FetchFailedError,
  type MapOutput,
  type ShuffleBlock,
} from "../../lib/shuffle/map_output.ts";
import { readBlocks } from "../../lib/shuffle/shuffle_reader.ts";
import {
  type Merge,
  NotAPairError,
  ShuffleWriter,
} from "../../lib/shuffle/shuffle_writer.ts";

const ADDRESS = { host: "here", port: 1 };

interface Files extends Disposable {
  readonly directory: string;
  write(
    records: Iterable<unknown>,
    options: { partitions: number; merge?: Merge },
  ): MapOutput;
}

function files(): Files {
  const directory = Deno.makeTempDirSync();
  let next = 0;
  return {
    directory,
    write(records, { partitions, merge }) {
      using writer = new ShuffleWriter({
        path: `${directory}/${next++}`,
        partitioner: { type: "hash", partitions },
        merge,
      });
      const push = writer.sink();
      for (const record of records) push(record);
      const segments = writer.finish();
      return {
        executorId: "1",
        host: "here",
        address: ADDRESS,
        path: writer.path,
        segments,
      };
    },
    [Symbol.dispose]: () => Deno.removeSync(directory, { recursive: true }),
  };
}

function read(blocks: readonly ShuffleBlock[]): unknown[] {
  const chunks = readBlocks(blocks, {
    host: "here",
    fetch: () => Promise.reject(new Error("it is here")),
  });
  assert(Symbol.iterator in chunks);
  return [...chunks as Iterable<unknown[]>].flat();
}

Deno.test("shuffle: each record arrives once, in the partition of its key", () => {
  using all = files();
  const outputs = [0, 1, 2].map((map) =>
    all.write(
      Array.from({ length: 50 }, (_, i) => [i % 10, `${map}/${i}`]),
      { partitions: 4 },
    )
  );
  const seen: unknown[] = [];
  const where = new Map<unknown, number>();
  for (let partition = 0; partition < 4; partition++) {
    for (const record of read(blocksOf(0, outputs, partition))) {
      const [key, value] = record as [number, string];
      seen.push(value);
      assertEquals(where.get(key) ?? partition, partition);
      where.set(key, partition);
    }
  }
  assertEquals(seen.length, 150);
  assertEquals(new Set(seen).size, 150);
});

Deno.test("shuffle: what is too much to hold is written in several segments, and all of it is read", () => {
  using all = files();
  const count = 600_000;
  function* records() {
    for (let i = 0; i < count; i++) yield [i, i];
  }
  const output = all.write(records(), { partitions: 2 });
  assert(output.segments.every((each) => each.length >= 6));
  let sum = 0;
  for (const partition of [0, 1]) {
    for (const record of read(blocksOf(0, [output], partition))) {
      sum += (record as [number, number])[1];
    }
  }
  assertEquals(sum, count * (count - 1) / 2);
});

Deno.test("shuffle: values are combined on the map side, also when there are too many keys to hold", () => {
  using all = files();
  const add: Merge = (a, b) => (a as number) + (b as number);
  const few = all.write(
    Array.from({ length: 10_000 }, (_, i) => [`k${i % 3}`, 1]),
    { partitions: 1, merge: add },
  );
  assertEquals(
    (read(blocksOf(0, [few], 0)) as [string, number][]).map(([, n]) => n),
    [3334, 3333, 3333],
  );
  const keys = 1_100_000;
  function* many() {
    for (let i = 0; i < keys; i++) yield [i, 1];
    for (let i = 0; i < 10; i++) yield [i, 1];
  }
  const output = all.write(many(), { partitions: 1, merge: add });
  const counts = read(blocksOf(0, [output], 0)) as [number, number][];
  assertEquals(counts.reduce((sum, [, count]) => sum + count, 0), keys + 10);
});

Deno.test("shuffle: partitions without records have no blocks, and no records no file", () => {
  using all = files();
  const none = all.write([], { partitions: 3 });
  assertEquals(none.segments, [[], [], []]);
  assertThrows(() => Deno.statSync(none.path), Deno.errors.NotFound);
  const one = all.write([["a", 1]], { partitions: 3 });
  const blocks = [0, 1, 2].map((p) => blocksOf(9, [none, one, none], p));
  assertEquals(blocks.map((each) => each.length).toSorted(), [0, 0, 1]);
  const [block] = blocks.flat();
  assertEquals([block.shuffleId, block.mapIndex, block.path], [9, 1, one.path]);
});

Deno.test("shuffle: a writer that is not finished leaves no file", () => {
  using all = files();
  const path = `${all.directory}/unfinished`;
  assertThrows(() => {
    using writer = new ShuffleWriter({
      path,
      partitioner: { type: "hash", partitions: 1 },
      merge: undefined,
    });
    const push = writer.sink();
    for (let i = 0; i < 300_000; i++) push([i, i]);
    assert(Deno.statSync(path).size > 0);
    push("no pair");
  }, NotAPairError);
  assertThrows(() => Deno.statSync(path), Deno.errors.NotFound);
});

Deno.test("shuffle: records that are no pairs are refused, and their kind is told", () => {
  using all = files();
  for (
    const [record, kind] of [
      [5, "number"],
      [[1], "an array of 1"],
      [[1, 2, 3], "an array of 3"],
      [null, "object"],
    ]
  ) {
    for (const merge of [undefined, (a: unknown) => a]) {
      assertThrows(
        () => all.write([record], { partitions: 1, merge }),
        NotAPairError,
        `A record is no [key, value] pair but ${kind}:`,
      );
    }
  }
});

Deno.test("shuffle: what is on another host is fetched, segment by segment and in order", async () => {
  using all = files();
  const output = all.write([["a", 1]], { partitions: 1 });
  const here = blocksOf(0, [output], 0);
  const there = here.map((block) => ({ ...block, host: "there" }));
  const fetched: unknown[] = [];
  const chunks = readBlocks([...here, ...there], {
    host: "here",
    fetch: async (block, { offset, length }) => {
      fetched.push([block.host, offset, length]);
      const bytes = await Deno.readFile(block.path);
      return bytes.subarray(offset, offset + length);
    },
  });
  const records = (await Array.fromAsync(chunks as AsyncIterable<unknown[]>))
    .flat();
  assertEquals(records, [["a", 1], ["a", 1]]);
  const [[offset, length]] = output.segments;
  assertEquals(fetched, [["there", offset, length]]);
});

Deno.test("shuffle: a block that can't be had is a fetch failure that names it", async () => {
  using all = files();
  const output = all.write([["a", 1]], { partitions: 1 });
  const [block] = blocksOf(3, [output], 0);
  const [offset, length] = output.segments[0];
  const cut = { ...block, segments: [offset, length + 1] };
  const error = assertThrows(() => read([cut]), FetchFailedError);
  assertEquals(error.block, cut);
  Deno.removeSync(output.path);
  const chunks = readBlocks([block], {
    host: "here",
    fetch: () => Promise.reject(new Error("gone")),
  });
  const gone = await assertRejects(
    () => Array.fromAsync(chunks as AsyncIterable<unknown[]>),
    FetchFailedError,
  );
  assertEquals(
    gone.message,
    "Cannot fetch the output of map task 0 of shuffle 3 from executor 1 on here: gone",
  );
});

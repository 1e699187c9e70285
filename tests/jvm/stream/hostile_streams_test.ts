/** Streams that no JVM writes: an error with an offset, soon and cheaply. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  javaObjectBytes,
  JavaStreamError,
  type JavaStreamOptions,
  readJavaObject,
  readJavaStream,
} from "../../../lib/jvm/stream/mod.ts";
import {
  CAPTURED_RELEASES,
  capturedBytes,
  capturedMessages,
} from "../captured.ts";

const HEAD = [0xac, 0xed, 0, 5];
/** `class A`, serializable, with no field, and what stands after its flags. */
const CLASS_A = [0x72, 0, 1, 0x41, 0, 0, 0, 0, 0, 0, 0, 1];
const UID = [0, 0, 0, 0, 0, 0, 0, 1];
const BYTES = [0x5b, 0x42];
/** The upper half of a double that is none. */
const NAN = [0x7f, 0xf8, 0, 0];

function stream(...bytes: (number | number[])[]): Uint8Array {
  return Uint8Array.from([HEAD, ...bytes].flat());
}

function refused(bytes: Uint8Array, options?: JavaStreamOptions): string {
  const error = assertThrows(
    () => readJavaStream(bytes, options),
    JavaStreamError,
  );
  assert(error.offset >= 0 && error.offset <= bytes.length);
  assert(error.message.includes(`at byte ${error.offset}`), error.message);
  return error.message;
}

/** What is wrong, the stream, and what is said of it. */
const STREAMS: readonly (readonly [string, Uint8Array, string])[] = [
  ["nothing", new Uint8Array(), "2 bytes are needed"],
  ["another magic", Uint8Array.from([0xac, 0xee, 0, 5]), "AC ED 00 05"],
  ["another version", Uint8Array.from([0xac, 0xed, 0, 6]), "AC ED 00 05"],
  ["an unknown tag", stream(0x6f), "0x6f begins nothing known"],
  ["an end of nothing", stream(0x78), "0x78 begins nothing known"],
  ["an exception", stream(0x7b), "wrote an exception"],
  ["a handle never given", stream(0x71, 0, 0x7e, 0, 0), "is not given"],
  ["a handle below all", stream(0x71, 0xff, 0, 0, 0), "is not given"],
  [
    "a handle from before a reset",
    stream(0x74, 0, 0, 0x79, 0x71, 0, 0x7e, 0, 0),
    "is not given",
  ],
  ["a string beyond the end", stream(0x74, 0xff, 0xff), "65535 bytes"],
  [
    "a long string of 2^63-1 bytes",
    stream(0x7c, 0x7f, Array(7).fill(0xff)),
    "integer is out of range",
  ],
  [
    "a long string of 2^40 bytes",
    stream(0x7c, [0, 0, 1, 0, 0, 0, 0, 0]),
    "a long string has a length",
  ],
  [
    "a long string that is short",
    stream(0x7c, [0, 0, 0, 0, 0, 0, 0, 1], 0x41),
    "a long string has a length of 1",
  ],
  ["a byte 0 in a text", stream(0x74, 0, 1, 0), "should begin"],
  ["an overlong text", stream(0x74, 0, 2, 0xc1, 0x81), "should begin"],
  ["a block beyond the end", stream(0x77, 9, 1), "9 bytes are needed"],
  [
    "a long block of 2^31-1 bytes",
    stream(0x7a, 0x7f, 0xff, 0xff, 0xff),
    "bytes are needed",
  ],
  [
    "a long block that is short",
    stream(0x7a, 0, 0, 0, 1, 0),
    "a long block has a length of 1",
  ],
  [
    "a long block of negative length",
    stream(0x7a, 0xff, 0xff, 0xff, 0xff),
    "a long block has a length of -1",
  ],
  ["an object of null", stream(0x73, 0x70), "an object has no descriptor"],
  [
    "an object of a string",
    stream(0x73, 0x74, 0, 0),
    "a string stands where a class descriptor should",
  ],
  [
    "a class of itself",
    stream(CLASS_A, 2, 0, 0, 0x78, 0x71, 0, 0x7e, 0, 0),
    "extends one that is being described",
  ],
  [
    "an object of the class that is being described",
    stream(CLASS_A, 2, 0, 0, 0x73, 0x71, 0, 0x7e, 0, 0, 0x78, 0x70),
    "of the class that is being described",
  ],
  [
    "a field of no type",
    stream(CLASS_A, 2, 0, 1, 0x51, 0, 0),
    "a field is of no known type",
  ],
  [
    "a field whose type is no string",
    stream(CLASS_A, 2, 0, 1, 0x4c, 0, 1, 0x66, 0x70),
    "the type of the field f is not a string",
  ],
  [
    "a boolean of 2",
    stream(0x73, CLASS_A, 2, 0, 1, 0x5a, 0, 0, 0x78, 0x70, 2),
    "a boolean is 2",
  ],
  [
    "a double that is another NaN",
    stream(0x73, CLASS_A, 2, 0, 1, 0x44, 0, 0, 0x78, 0x70, NAN, [0, 0, 0, 1]),
    "a NaN that no JVM writes",
  ],
  [
    "a float that is another NaN",
    stream(0x73, CLASS_A, 2, 0, 1, 0x46, 0, 0, 0x78, 0x70, 0xff, 0xc0, 0, 0),
    "a NaN that no JVM writes",
  ],
  [
    "a class that is both serializable and externalizable",
    stream(CLASS_A, 6, 0, 0, 0x78, 0x70),
    "A is both serializable and externalizable",
  ],
  [
    "an object that only its class can read",
    stream(0x73, CLASS_A, 4, 0, 0, 0x78, 0x70),
    "in a way that only it can read",
  ],
  [
    "an array of no array class",
    stream(0x75, CLASS_A, 2, 0, 0, 0x78, 0x70, 0, 0, 0, 0),
    `"A" is no class of arrays`,
  ],
  [
    "an array of more than bytes",
    stream(0x75, 0x72, 0, 3, BYTES, 0x42, UID, 2, 0, 0, 0x78, 0x70, 0, 0, 0, 0),
    `"[BB" is no class of arrays`,
  ],
  [
    "an enum's constant that is no string",
    stream(0x7e, CLASS_A, 0x12, 0, 0, 0x78, 0x70, 0x70),
    "an enum's constant is not a string",
  ],
  [
    "a reset within an object",
    stream(0x73, CLASS_A, 3, 0, 0, 0x78, 0x70, 0x79),
    "reset within an object",
  ],
  [
    "a proxy of 2^31-1 interfaces",
    stream(0x7d, 0x7f, 0xff, 0xff, 0xff),
    "bytes are needed",
  ],
  [
    "a proxy of -1 interfaces",
    stream(0x7d, 0xff, 0xff, 0xff, 0xff),
    "-1 interfaces",
  ],
];

for (const [what, bytes, reason] of STREAMS) {
  Deno.test(`java stream: ${what} is refused`, () => {
    const message = refused(bytes);
    assert(message.includes(reason), message);
  });
}

/** An array class `[B`, `[I` or `[Ljava.lang.Object;`, by its letter. */
function arrayOf(letter: string, length: number[]): Uint8Array {
  const name = [0x5b, letter.charCodeAt(0)];
  return stream(0x75, 0x72, 0, 2, name, UID, 2, 0, 0, 0x78, 0x70, length);
}

/** The bytes that are allocated, whether or not they are still needed. */
function memory(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

Deno.test("java stream: an announced length takes no memory before the bytes are there", () => {
  const before = memory();
  for (const letter of ["B", "I", "J", "L"]) {
    refused(arrayOf(letter, [0x7f, 0xff, 0xff, 0xff]));
    refused(arrayOf(letter, [0x03, 0xff, 0xff, 0xff]));
    refused(arrayOf(letter, [0x00, 0x3f, 0xff, 0xff]));
    refused(arrayOf(letter, [0xff, 0xff, 0xff, 0xff]));
  }
  refused(stream(0x7c, [0, 0, 0, 0, 0, 0xff, 0xff, 0xff]));
  refused(stream(0x7a, 0x7f, 0xff, 0xff, 0xff));
  refused(stream(0x7d, 0x7f, 0xff, 0xff, 0xff));
  // Each of the lengths would take more than that.
  assert(memory() - before < 8 << 20);
});

Deno.test("java stream: of a name that a stream has, an error shows but the beginning, in one line", () => {
  const name = "A\n\u001b[2J" + "x".repeat(60_000);
  const bytes = javaObjectBytes({
    kind: "descriptor",
    name,
    serialVersionUID: 1n,
    flags: 4,
    fields: [],
    annotation: [],
    superclass: null,
    proxyInterfaces: null,
  });
  const ofArray = [0x75, ...bytes.subarray(4)];
  const message = refused(stream(ofArray));
  assert(message.includes(String.raw`"A\n\u001b[2Jxxx`), message);
  assert(message.length < 400);
});

Deno.test("java stream: objects in one another are read to a depth, and refused beyond it", () => {
  const nested = (depth: number) =>
    stream(
      Array.from({ length: depth }, () => [0x75, 0x72]).flatMap(([a], i) =>
        i === 0
          ? [a, 0x72, 0, 2, 0x5b, 0x4c, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0x78]
            .concat(0x70, 0, 0, 0, 1)
          : [a, 0x71, 0, 0x7e, 0, 0, 0, 0, 0, 1]
      ).concat(0x70),
    );
  const deep = nested(400);
  assertEquals(javaObjectBytes(readJavaObject(deep)), deep);
  assert(refused(nested(600)).includes("more than 500 deep"));
  assert(refused(nested(100_000)).includes("more than 500 deep"));
  assert(refused(nested(20), { limits: { depth: 10 } }).includes("10 deep"));
});

Deno.test("java stream: each limit stops what goes beyond it", () => {
  const strings = stream(
    Array.from({ length: 100 }, () => [0x74, 0, 0]).flat(),
  );
  readJavaStream(strings, { limits: { handles: 100 } });
  assert(
    refused(strings, { limits: { handles: 99 } }).includes("than 99 objects"),
  );
  const bytes = capturedBytes("4.3.0", "RegisterApplication");
  assert(refused(bytes, { limits: { values: 50 } }).includes("than 50 values"));
  assert(
    refused(bytes, { limits: { arrayLength: 5 } }).includes(
      "array has a length",
    ),
  );
  assert(
    refused(bytes, { limits: { superclasses: 1 } }).includes(
      "too many classes",
    ),
  );
});

Deno.test("java stream: two objects alone, or a block, are not one object", () => {
  for (const bytes of [stream(0x70, 0x70), stream(0x77, 0), stream()]) {
    assertThrows(() => readJavaObject(bytes), JavaStreamError, "one object");
  }
});

/** A small generator, so that a failing run can be had again. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x9e3779b9 | 0;
    state ^= state >>> 12;
    return (state >>> 0) % below;
  };
}

/** Reads, and if that goes well writes it back: the same bytes. */
function tryToRead(bytes: Uint8Array, seed: string): boolean {
  let object;
  try {
    object = readJavaObject(bytes);
  } catch (error) {
    assert(error instanceof JavaStreamError, `${seed}: ${error}`);
    return false;
  }
  assertEquals(javaObjectBytes(object), bytes, seed);
  return true;
}

Deno.test("java stream: a stream that was cut anywhere is refused", () => {
  for (const release of CAPTURED_RELEASES) {
    for (const message of ["RegisterApplication", "ExecutorUpdated"]) {
      const bytes = capturedBytes(release, message);
      for (let length = 0; length < bytes.length; length++) {
        // The head alone is a stream to which nothing was written.
        if (length !== 4) refused(bytes.subarray(0, length));
      }
    }
  }
});

Deno.test("java stream: bytes flipped, put in and taken out give an error or what they say, never more", () => {
  const start = performance.now();
  let read = 0;
  let tried = 0;
  for (const release of CAPTURED_RELEASES) {
    for (const message of capturedMessages(release)) {
      const bytes = capturedBytes(release, message);
      for (let seed = 1; seed <= 150; seed++) {
        const next = random(seed * 7919);
        let changed = bytes.slice();
        for (let n = next(4); n >= 0; n--) {
          const at = next(changed.length);
          switch (next(3)) {
            case 0:
              changed[at] = next(256);
              break;
            case 1: { // something from elsewhere in it once more
              const from = next(changed.length);
              const piece = changed.slice(from, from + next(64));
              changed = Uint8Array.from([
                ...changed.subarray(0, at),
                ...piece,
                ...changed.subarray(at),
              ]);
              break;
            }
            case 2:
              changed.copyWithin(at, at + 1 + next(8));
          }
        }
        tried++;
        if (tryToRead(changed, `${release} ${message} ${seed}`)) read++;
      }
    }
  }
  // Most are refused, and some are only another text or number.
  assert(read > tried / 100 && read < tried / 2, `${read} of ${tried}`);
  const perStream = (performance.now() - start) / tried;
  assert(perStream < 20, `${perStream} ms a stream`);
});

Deno.test("java stream: many objects of a long hierarchy cost no more than their bytes allow", () => {
  // A class of 59 ancestors, and objects of it, 6 bytes each.
  const classes = Array.from({ length: 60 }, () => [0x72, 0, 0])
    .flatMap((start) => [...start, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0x78]);
  const objects = Array.from({ length: 100_000 }, () => [
    ...[0x73, 0x71, 0, 0x7e, 0, 0],
  ]).flat();
  const start = performance.now();
  assert(refused(stream(classes, 0x70, objects)).includes("4000000 values"));
  assert(performance.now() - start < 5_000);
});

/** Streams of so many of something, which should take their share of time. */
const REPEATED: Readonly<Record<string, (count: number) => number[]>> = {
  "references to one object": (count) => [
    ...[0x74, 0, 0],
    ...Array(count).fill([0x71, 0, 0x7e, 0, 0]).flat(),
  ],
  "resets": (count) => Array(count).fill([0x74, 0, 0, 0x79]).flat(),
  "empty blocks": (count) => Array(count).fill([0x77, 0]).flat(),
  "classes": (count) =>
    Array(count).fill([...CLASS_A, 2, 0, 0, 0x78, 0x70]).flat(),
  "objects of classes of their own": (count) =>
    Array(count).fill([0x73, ...CLASS_A, 2, 0, 0, 0x78, 0x70]).flat(),
  "proxies": (count) =>
    Array(count).fill([0x7d, 0, 0, 0, 1, 0, 0, 0x78, 0x70]).flat(),
};

for (const [what, bytesOf] of Object.entries(REPEATED)) {
  Deno.test(`java stream: the time that ${what} take grows with their number, and no faster`, () => {
    const few = stream(bytesOf(5_000));
    const many = stream(bytesOf(50_000));
    const time = (bytes: Uint8Array) => {
      const start = performance.now();
      readJavaStream(bytes);
      return performance.now() - start;
    };
    time(few);
    const once = Math.max(time(few), time(few), 1);
    const most = 60 * once;
    // A busy machine may be slow once; one whose time is squared always is.
    assert(time(many) < most || time(many) < most || time(many) < most);
  });
}

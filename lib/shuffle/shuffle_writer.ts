import { CombineTable } from "./combine_table.ts";
import {
  partitionCount,
  type Partitioner,
  partitionFunction,
} from "./partitioner.ts";
import { encodeRecords } from "./record_codec.ts";

/** Records that are held before they are written out. */
const MAX_BUFFERED_RECORDS = 262_144;
/** Keys that are combined before they are written out. */
const MAX_COMBINED_KEYS = 1_048_576;

/** How the values of one key become one; `undefined` leaves them apart. */
export type Merge = ((held: unknown, value: unknown) => unknown) | undefined;

export interface ShuffleWriterOptions {
  readonly path: string;
  readonly partitioner: Partitioner;
  /** Combines on the map side, before anything is written. */
  readonly merge: Merge;
}

/**
 * Writes the output of one map task: a file of encoded records, segment by
 * segment, each of one reduce partition. Memory is bounded: when too much is
 * held it is written out, and a partition gets one segment more.
 */
export class ShuffleWriter implements Disposable {
  readonly path: string;
  readonly #partitions: number;
  readonly #partitionOf: (key: unknown) => number;
  readonly #segments: number[][];
  readonly #table: CombineTable<unknown, unknown> | undefined;
  readonly #merge: Merge;
  #records: unknown[][];
  #buffered = 0;
  #offset = 0;
  #file: Deno.FsFile | undefined;
  #finished = false;

  constructor({ path, partitioner, merge }: ShuffleWriterOptions) {
    this.path = path;
    this.#partitions = partitionCount(partitioner);
    this.#partitionOf = partitionFunction(partitioner);
    this.#segments = Array.from({ length: this.#partitions }, () => []);
    this.#records = this.#empty();
    this.#merge = merge;
    this.#table = merge && new CombineTable();
  }

  /**
   * The function that takes the records, which must be pairs of key and value.
   * It is made once and called once a record.
   */
  sink(): (record: unknown) => void {
    const table = this.#table;
    const merge = this.#merge;
    if (table === undefined || merge === undefined) {
      return (record) => this.#add(asPair(record)[0], record);
    }
    return (record) => {
      const pair = asPair(record);
      table.combine(pair[0], pair[1], itself, merge);
      if (table.size >= MAX_COMBINED_KEYS) this.#flushTable(table);
    };
  }

  /** Writes what is left. @returns by partition: offset, length, … */
  finish(): number[][] {
    if (this.#table) this.#flushTable(this.#table);
    this.#flush();
    this.#file?.close();
    this.#file = undefined;
    this.#finished = true;
    return this.#segments;
  }

  /** Removes the file unless it was finished. */
  [Symbol.dispose](): void {
    if (this.#finished || this.#file === undefined) return;
    this.#file.close();
    Deno.removeSync(this.path);
  }

  #flushTable(table: CombineTable<unknown, unknown>): void {
    table.forEach((key, held) => this.#add(key, [key, held]));
    table.clear();
  }

  #add(key: unknown, record: unknown): void {
    this.#records[this.#partitionOf(key)].push(record);
    if (++this.#buffered >= MAX_BUFFERED_RECORDS) this.#flush();
  }

  #flush(): void {
    if (this.#buffered === 0) return;
    this.#file ??= Deno.openSync(this.path, { write: true, createNew: true });
    this.#records.forEach((records, partition) => {
      if (records.length === 0) return;
      const bytes = encodeRecords(records);
      for (let at = 0; at < bytes.length;) {
        at += this.#file!.writeSync(bytes.subarray(at));
      }
      this.#segments[partition].push(this.#offset, bytes.length);
      this.#offset += bytes.length;
    });
    this.#records = this.#empty();
    this.#buffered = 0;
  }

  #empty(): unknown[][] {
    return Array.from({ length: this.#partitions }, () => []);
  }
}

function itself(value: unknown): unknown {
  return value;
}

/** A record of a keyed operation is not a pair. */
export class NotAPairError extends TypeError {
  override name = "NotAPairError";
}

/** @throws {NotAPairError} for what is no `[key, value]`. */
export function asPair(record: unknown): [unknown, unknown] {
  if (Array.isArray(record) && record.length === 2) {
    return record as [unknown, unknown];
  }
  throw new NotAPairError(
    `A record is no [key, value] pair but ${
      Array.isArray(record) ? `an array of ${record.length}` : typeof record
    }: an operation on keys needs pairs.`,
  );
}

/**
 * The order of `sortBy`: numbers and bigints by value with NaN last, strings
 * by code unit, dates by time, false before true, arrays element by element.
 * Of two values of different kinds, the order is that of their kinds: null,
 * boolean, number, date, string, array; undefined comes last of all.
 *
 * @returns a negative number, zero or a positive number.
 * @throws {UnsortableKeyError} for what has no order, such as a plain object.
 */
export function compareKeys(a: unknown, b: unknown): number {
  if (typeof a === "string" && typeof b === "string") {
    return a < b ? -1 : a > b ? 1 : 0;
  }
  const rankA = rank(a);
  const rankB = rank(b);
  if (rankA !== rankB) return rankA - rankB;
  switch (rankA) {
    case BOOLEAN:
      return Number(a) - Number(b);
    case NUMBER:
      return compareNumbers(a as number, b as number);
    case DATE:
      return compareNumbers((a as Date).getTime(), (b as Date).getTime());
    case ARRAY:
      return compareArrays(a as unknown[], b as unknown[]);
    default:
      return 0;
  }
}

/** A key of `sortBy` is of a kind that has no order. */
export class UnsortableKeyError extends TypeError {
  override name = "UnsortableKeyError";
}

const NULL = 0;
const BOOLEAN = 1;
const NUMBER = 2;
const DATE = 3;
const STRING = 4;
const ARRAY = 5;
const UNDEFINED = 6;

function rank(value: unknown): number {
  switch (typeof value) {
    case "number":
    case "bigint":
      return NUMBER;
    case "string":
      return STRING;
    case "boolean":
      return BOOLEAN;
    case "undefined":
      return UNDEFINED;
  }
  if (value === null) return NULL;
  if (Array.isArray(value)) return ARRAY;
  if (value instanceof Date) return DATE;
  throw new UnsortableKeyError(
    `Cannot sort by a key of type ${typeof value}: use a number, a string, a date, or an array of these.`,
  );
}

function compareNumbers(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  // Only NaN is left unequal; it comes after every number.
  return Number(a !== a) - Number(b !== b);
}

function compareArrays(a: unknown[], b: unknown[]): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compareKeys(a[i], b[i]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

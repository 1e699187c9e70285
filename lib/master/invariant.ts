/** The master's tables contradict themselves: a defect of the master. */
export class InvariantError extends Error {
  override name = "InvariantError";
}

/**
 * States what must hold whatever others send or leave undone.
 *
 * @throws {InvariantError} when it does not.
 */
export function mustHold(condition: boolean, what: string): asserts condition {
  if (!condition) throw new InvariantError(what);
}

/** Of a name that a stream has, so much is in a message. */
const SHOWN_UNITS = 200;

/** A peer's name for a message that a person reads: escaped, and not too long. */
export function shown(name: string): string {
  return JSON.stringify(name.slice(0, SHOWN_UNITS)).slice(1, -1);
}

import { InvalidSettingError, type Milliseconds } from "../conf/units.ts";

/**
 * Makes an id from a pattern such as `app-%s-%04d`: the part of Java's
 * `Formatter` that Spark's id settings use (`spark.deploy.appIdPattern`,
 * `spark.deploy.driverIdPattern`, `spark.worker.idPattern`).
 *
 * Known are `%s` (anything), `%d` (whole numbers), `%%`, a width, the flags
 * `0` (with `%d` and a width) and `-`, and an explicit argument: `%2$05d`.
 *
 * @example
 * ```ts
 * import { formatIdPattern } from "./id_pattern.ts";
 *
 * formatIdPattern("app-%s-%04d", "20261130223351", 7); // app-20261130223351-0007
 * formatIdPattern("my-app-%2$05d", "20261130223351", 7); // my-app-00007
 * ```
 *
 * @throws {InvalidSettingError} when the pattern holds another conversion, one
 * that its argument doesn't fit, or makes an id with whitespace in it.
 */
export function formatIdPattern(
  pattern: string,
  ...values: readonly (string | number)[]
): string {
  let next = 0;
  // Any "%" starts a conversion, so that a broken one is seen, not copied.
  const id = pattern.replaceAll(
    /%(?:(\d+)\$)?([-0]*)(\d+)?(.)?/gs,
    (text, index?: string, flags = "", width?: string, conversion?: string) => {
      const refuse = (reason: string): never => {
        throw new InvalidSettingError(
          `"${text}" in the id pattern "${pattern}" ${reason}`,
        );
      };
      if (text === "%%") return "%";
      if (conversion !== "s" && conversion !== "d") {
        return refuse("is not a conversion that ids can use");
      }
      const position = index === undefined ? next++ : Number(index) - 1;
      const value = values[position];
      if (value === undefined) {
        return refuse(`asks for argument ${position + 1}, which doesn't exist`);
      }
      if (conversion === "d" && typeof value !== "number") {
        return refuse(`cannot show "${value}", which is not a number`);
      }
      return padded(String(value), flags, width, conversion) ??
        refuse("combines flags and a width that don't go together");
    },
  );
  if (/\s/.test(id)) {
    throw new InvalidSettingError(
      `Whitespace is not allowed in an id, and the pattern "${pattern}" ` +
        `makes "${id}"`,
    );
  }
  return id;
}

/** The widest that a pattern may pad to. */
const MAX_WIDTH = 200;

function padded(
  text: string,
  flags: string,
  widthText: string | undefined,
  conversion: "s" | "d",
): string | undefined {
  if (flags !== "" && widthText === undefined) return undefined;
  const width = Number(widthText ?? 0);
  if (width > MAX_WIDTH) return undefined;
  switch (flags) {
    case "":
      return text.padStart(width);
    case "-":
      return text.padEnd(width);
    case "0":
      return conversion === "d" ? text.padStart(width, "0") : undefined;
    default:
      return undefined;
  }
}

/** `yyyyMMddHHmmss` in local time, as ids carry it. */
export function idTimestamp(now: Milliseconds): string {
  const date = new Date(now);
  const two = (value: number) => String(value).padStart(2, "0");
  return String(date.getFullYear()).padStart(4, "0") +
    two(date.getMonth() + 1) + two(date.getDate()) + two(date.getHours()) +
    two(date.getMinutes()) + two(date.getSeconds());
}

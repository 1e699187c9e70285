import { intrinsicPathLate } from "./intrinsics.ts";

/** How errors name an object's kind: `a Deno.TcpConn`. */
export function nativeName(value: object): string {
  let at: object | null = value;
  while (at !== null) {
    const owner = Object.getOwnPropertyDescriptor(at, "constructor")?.value;
    if (typeof owner === "function") {
      const name = Object.getOwnPropertyDescriptor(owner, "name")?.value;
      if (typeof name === "string" && name !== "" && name !== "Object") {
        const own = intrinsicPathLate(owner)?.path.join(".") ?? name;
        return `${/^[AEIOU]/.test(own) ? "an" : "a"} ${own}`;
      }
    }
    at = Object.getPrototypeOf(at);
  }
  return "an object of the runtime";
}

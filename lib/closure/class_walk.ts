import type { Capture, MadeFunction } from "./capture.ts";
import type { ClassMember } from "./class_code.ts";
import { nativeName } from "./native_name.ts";

/** A function's text, whatever it has for a `toString` of its own. */
export const sourceOf = (value: object) =>
  Reflect.apply(Function.prototype.toString, value, []) as string;

/** A function's own name, without running a getter. */
export function nameOf(value: object): string {
  const name = Object.getOwnPropertyDescriptor(value, "name")?.value;
  return typeof name === "string" ? name : "";
}

/** Tells which functions of a class and its prototype are what its text defines. */
export function readMembers(capture: Capture, made: MadeFunction): void {
  const { id, value, code } = made;
  const prototype = Object.getOwnPropertyDescriptor(value, "prototype")!
    .value as object;
  const byText = new Map<string, ClassMember[]>();
  for (const member of code.class!.members) {
    const key = `${member.of} ${member.part} ${member.text}`;
    byText.set(key, [...(byText.get(key) ?? []), member]);
  }
  for (
    const [of, holder] of [["static", value], ["prototype", prototype]] as const
  ) {
    for (const key of Reflect.ownKeys(holder)) {
      const found = Object.getOwnPropertyDescriptor(holder, key)!;
      for (const part of ["value", "get", "set"] as const) {
        const candidate = found[part];
        if (typeof candidate !== "function" || capture.members.has(candidate)) {
          continue;
        }
        const same = byText.get(`${of} ${part} ${sourceOf(candidate)}`) ?? [];
        const member = same.find((each) => each.key === key) ??
          same.find((each) => each.key === undefined && !made.keys.has(each));
        if (member === undefined) continue;
        const at = { up: undefined, step: String(key), by: code };
        const keySlot = capture.key(key, at);
        if (member.key === undefined) made.keys.set(member, keySlot);
        capture.members.set(candidate, {
          t: "member",
          class: id,
          of,
          key: keySlot,
          part,
        });
      }
    }
  }
}

/** Completes the node of a class: its parent, its removed members, its private statics. */
export async function walkClass(
  capture: Capture,
  made: MadeFunction,
): Promise<void> {
  const { id, value, code, origin } = made;
  const edit = code.class!;
  const node = capture.nodes[id]!;
  if (node.t !== "class") return;
  const prototype = Object.getOwnPropertyDescriptor(value, "prototype")!
    .value as object;
  if (edit.hasHeritage) {
    const parent = Object.getPrototypeOf(value) as object;
    if (parent !== Function.prototype) {
      node.parent = [
        capture.id(parent, {
          up: undefined,
          step: `${nameOf(value)} extends`,
          by: code,
        }),
      ];
    }
  }
  for (const { of, key } of edit.members) {
    if (
      key !== undefined &&
      !Object.hasOwn(of === "static" ? value : prototype, key)
    ) node.removed.push({ of, key });
  }
  for (const [index, member] of edit.computed.entries()) {
    if (made.keys.has(member)) continue;
    // Its property is gone or replaced: the text still defines one, under a name that is taken away again.
    const key = `removed member ${index}`;
    made.keys.set(member, key);
    node.removed.push({ of: member.of, key });
  }
  if (edit.staticFields.length > 0) {
    capture.stamped.add(id);
    for (const [name, field] of await capture.inspector.privateFields(value)) {
      if (!edit.staticFields.includes(name)) continue;
      node.privateStatics.push([
        name,
        capture.slot(field, { up: origin, step: `.${name}` }),
      ]);
    }
  }
}

/** Reads the private fields of instances whose classes are known. */
export async function walkInstances(capture: Capture): Promise<void> {
  for (const { id, value, classes, origin } of capture.instances.splice(0)) {
    const node = capture.nodes[id]!;
    node.stamps = classes.map((made) => made.id);
    if (!classes[0]!.code.class!.hasHeritage) node.allocates = true;
    for (const made of classes) capture.stamped.add(made.id);
    const owners = classes.flatMap((made) =>
      made.code.class!.instanceFields.map((name) => ({ made, name }))
    );
    node.privates = [];
    for (const [name, field] of await capture.inspector.privateFields(value)) {
      const index = owners.findIndex((owner) => owner.name === name);
      if (index === -1) {
        capture.refuse(
          { up: origin, step: `.${name}` },
          `a private field of ${nativeName(value)}`,
        );
      }
      const [{ made }] = owners.splice(index, 1) as [typeof owners[number]];
      node.privates.push([
        made.id,
        name,
        capture.slot(field, { up: origin, step: `.${name}` }),
      ]);
    }
  }
}

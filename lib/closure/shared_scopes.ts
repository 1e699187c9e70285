import type { Scope, Variable } from "eslint-scope";
import type { Capture, MadeFunction } from "./capture.ts";
import type { Contexts } from "./contexts.ts";
import { ClosureCaptureError } from "./errors.ts";
import { basePosition } from "./function_label.ts";
import type { Node } from "./recipe.ts";
import { isSingle } from "./script.ts";

/** Most functions whose scopes are compared by their values, each with each, before the heap is asked. */
const MAX_COMPARED = 100;

/** The scopes that one function shares with others, outermost first. */
export interface Sharing {
  /** Variables that a captured function assigns, by name. */
  names: Set<string>;
  chain: Scope[];
  /** The scope nodes, one a scope of the chain. */
  instances: number[];
}

/** How many scopes a scope is in, itself included. */
export function depth(scope: Scope): number {
  let levels = 0;
  for (let at: Scope | null = scope; at !== null; at = at.upper) levels++;
  return levels;
}

/** Variables that some captured function assigns, by scope. All others may be copied for each function. */
export function assignedVariables(capture: Capture): Map<Scope, Variable[]> {
  const shared = new Map<Scope, Variable[]>();
  for (const { code } of capture.made.values()) {
    for (const { variable, assigned } of code.free) {
      if (!assigned || variable === undefined) continue;
      const list = shared.get(variable.scope);
      if (list === undefined) shared.set(variable.scope, [variable]);
      else if (!list.includes(variable)) list.push(variable);
    }
  }
  return shared;
}

/** Makes a node for each scope instance. */
export async function findInstances(
  capture: Capture,
  contexts: Contexts,
  sharing: ReadonlyMap<MadeFunction, Sharing>,
  shared: ReadonlyMap<Scope, Variable[]>,
): Promise<void> {
  const levels = new Map<Scope, { made: MadeFunction; level: number }[]>();
  for (const [made, { chain }] of sharing) {
    for (const [level, scope] of chain.entries()) {
      const list = levels.get(scope);
      if (list === undefined) levels.set(scope, [{ made, level }]);
      else list.push({ made, level });
    }
  }
  for (
    const [scope, users] of [...levels].sort(([a], [b]) => depth(a) - depth(b))
  ) {
    const names = shared.get(scope)!.map(({ name }) => name);
    const keys = await instanceKeys(
      contexts,
      scope,
      names,
      users.map(({ made }) => made),
    );
    const nodes = new Map<unknown, number>();
    for (const [index, { made, level }] of users.entries()) {
      const own = sharing.get(made)!;
      let id = nodes.get(keys[index]);
      if (id === undefined) {
        const node: Node = {
          t: "scope",
          unit: 0,
          make: "",
          values: names.map(() => undefined),
        };
        if (level > 0) node.parent = own.instances[level - 1];
        nodes.set(keys[index], id = capture.add(node, made.origin));
      }
      own.instances[level] = id;
      const { values } = capture.nodes[id] as Extract<Node, { t: "scope" }>;
      for (const [at, name] of names.entries()) {
        if (made.slots.has(name) && own.names.has(name)) {
          values[at] = made.slots.get(name);
        }
      }
    }
  }
}

/** Something equal for functions that are in the same instance of a scope. */
async function instanceKeys(
  contexts: Contexts,
  scope: Scope,
  names: string[],
  users: MadeFunction[],
): Promise<unknown[]> {
  if (isSingle(scope)) return users.map(() => scope);
  if (users.length === 1) return [scope];
  const holders = users.map(({ facts }) =>
    facts.scopes.find((found) =>
      names.some((name) => Object.hasOwn(found, name))
    )
  );
  if (
    users.length <= MAX_COMPARED &&
    holders.every((holder, index) =>
      holders.every((other, at) => at <= index || differ(holder, other))
    )
  ) {
    return users;
  }
  const ids = await contexts.scopeIds(users.map(({ value, facts }) => ({
    value,
    variable: names.find((name) =>
      facts.scopes.some((found) =>
        Object.hasOwn(found, name)
      )
    ) ?? names[0]!,
  })));
  const unknown = ids.indexOf(undefined);
  if (unknown !== -1) {
    throw new ClosureCaptureError(
      `Cannot send the function ${
        basePosition(users[unknown]!.code)
      }: it shares the variable "${names[0]}" with ` +
        "another function, and the runtime does not show whether both mean the same one.",
    );
  }
  return ids;
}

/** Whether two scopes hold different values, so that they can't be the same. */
function differ(
  a: Readonly<Record<string, unknown>> | undefined,
  b: Readonly<Record<string, unknown>> | undefined,
): boolean {
  if (a === undefined || b === undefined) return false;
  return Object.keys(a).some((name) => {
    const [left, right] = [a, b].map((scope) =>
      Object.getOwnPropertyDescriptor(scope, name)
    ) as [
      PropertyDescriptor | undefined,
      PropertyDescriptor | undefined,
    ];
    return left === undefined || right === undefined ||
      !Object.is(left.value, right.value);
  });
}

import type { Scope } from "eslint-scope";
import type { Capture, MadeFunction } from "./capture.ts";
import type { Contexts } from "./contexts.ts";
import { ClosureCaptureError } from "./errors.ts";
import { basePosition } from "./function_label.ts";
import { refuseFunction, refusePrivate } from "./function_refusal.ts";
import { type Dependencies, orderNodes } from "./order.ts";
import type { Made, Node, Recipe, Slot, Unit } from "./recipe.ts";
import type { Script } from "./script.ts";
import {
  assignedVariables,
  depth,
  findInstances,
  type Sharing,
} from "./shared_scopes.ts";
import {
  type MakerPlan,
  planChain,
  type ScopePlan,
  UnitWriter,
} from "./unit.ts";

/** Turns a finished walk into a recipe: finds shared scopes, orders the nodes, writes the texts. */
export async function link(
  capture: Capture,
  contexts: Contexts,
  root: Slot,
): Promise<Recipe> {
  const shared = assignedVariables(capture);
  const sharing = new Map<MadeFunction, Sharing>();
  const plans = new Map<Scope, ScopePlan>();
  for (const made of capture.made.values()) {
    const free = made.code.free.filter(({ variable }) =>
      variable !== undefined &&
      (shared.get(variable.scope)?.includes(variable) ?? false)
    );
    if (free.length === 0) continue;
    const innermost = free.map(({ variable }) => variable!.scope).reduce((
      a,
      b,
    ) => depth(a) >= depth(b) ? a : b);
    const chain = planChain(innermost, shared);
    let parent: ScopePlan | undefined;
    for (const scope of chain) {
      let plan = plans.get(scope);
      if (plan === undefined) {
        plans.set(
          scope,
          plan = { scope, parent, variables: shared.get(scope)! },
        );
      }
      parent = plan;
    }
    sharing.set(made, {
      names: new Set(free.map(({ name }) => name)),
      chain,
      instances: [],
    });
  }
  await findInstances(capture, contexts, sharing, shared);
  for (const [made, { instances }] of sharing) {
    const node = capture.nodes[made.id] as Made;
    node.scope = instances.at(-1)!;
  }
  for (const made of capture.made.values()) {
    if (made.code.outerPrivate === undefined) continue;
    const around = findClass(capture, made, sharing);
    capture.stamped.add(around);
    (capture.nodes[made.id] as Made).inClass = around;
  }
  for (const made of capture.made.values()) {
    prepare(capture, made, sharing.get(made));
  }
  const { order, late, impossible } = orderNodes(
    capture.nodes.length,
    (node) => dependencies(capture, node, sharing),
  );
  if (impossible !== undefined) {
    const made = impossible.map((node) => capture.made.get(node)).find((
      found,
    ) => found !== undefined);
    const name = made === undefined
      ? capture.name
      : `the function ${basePosition(made.code)}`;
    throw new ClosureCaptureError(
      `Cannot send ${name}: what it needs in order to be defined refers back to it, so that neither can be made first.`,
    );
  }
  const units = writeUnits(capture, sharing, plans, late);
  return { nodes: capture.nodes, order, units, root };
}

/** Names of the parameters of a function's maker: its free variables but those that scopes hold, and its own name. */
function parameterNames(
  made: MadeFunction,
  sharing: Sharing | undefined,
): string[] {
  return [...made.slots.keys()].filter((name) =>
    !(sharing?.names.has(name) ?? false) && name !== selfName(made, sharing)
  );
}

/** The variable that holds just this function and that nobody assigns. */
function selfName(
  made: MadeFunction,
  sharing: Sharing | undefined,
): string | undefined {
  for (const [name, slot] of made.slots) {
    if (
      Array.isArray(slot) && slot[0] === made.id &&
      !(sharing?.names.has(name) ?? false)
    ) return name;
  }
  return undefined;
}

/** What a maker takes before the free variables: the parent and the computed keys of a class. */
function extraParams({ code, keys }: MadeFunction, node: Node): Slot[] {
  if (code.class === undefined || node.t !== "class") return [];
  const computed = code.class.computed.map((member) => keys.get(member));
  return code.class.hasHeritage ? [node.parent, ...computed] : computed;
}

function prepare(
  capture: Capture,
  made: MadeFunction,
  sharing: Sharing | undefined,
): void {
  const node = capture.nodes[made.id] as Extract<
    Node,
    { t: "function" | "class" }
  >;
  node.params = parameterNames(made, sharing).map((name) =>
    made.slots.get(name)
  );
  node.params.unshift(...extraParams(made, node));
  if (made.args !== undefined) node.args = made.args;
  if (made.self !== undefined) node.self = made.self;
  if (node.t === "class") node.tools = capture.stamped.has(made.id);
}

function dependencies(
  capture: Capture,
  id: number,
  sharing: ReadonlyMap<MadeFunction, Sharing>,
): Dependencies {
  const node = capture.nodes[id]!;
  const hard: number[] = [];
  const soft: number[] = [];
  const need = (slot: Slot) => {
    if (Array.isArray(slot)) hard.push(slot[0]);
  };
  need(node.proto);
  if (node.stamps !== undefined) hard.push(...node.stamps);
  switch (node.t) {
    case "view":
      hard.push(node.buffer);
      break;
    case "boxed":
      need(node.value);
      break;
    case "bound":
      hard.push(node.target);
      need(node.self);
      node.args.forEach(need);
      break;
    case "prototype":
      hard.push(node.of);
      break;
    case "member":
      hard.push(node.class);
      need(node.key);
      break;
    case "scope":
      if (node.parent !== undefined) hard.push(node.parent);
      break;
    case "function":
    case "class": {
      const made = capture.made.get(id)!;
      if (node.scope !== undefined) hard.push(node.scope);
      need(node.self);
      node.args?.forEach(need);
      if (node.inClass !== undefined) hard.push(node.inClass);
      const eager = new Set(
        made.code.free.filter((variable) => variable.eager).map(({ name }) =>
          name
        ),
      );
      const names = parameterNames(made, sharing.get(made));
      const extra = node.params.length - names.length;
      for (const [index, slot] of node.params.entries()) {
        if (index < extra || eager.has(names[index - extra]!)) need(slot);
        else if (Array.isArray(slot)) soft.push(slot[0]);
      }
      break;
    }
  }
  return { hard, soft };
}

/** The one captured class around a function that declares the private member it uses. */
function findClass(
  capture: Capture,
  made: MadeFunction,
  sharing: ReadonlyMap<MadeFunction, Sharing>,
): number {
  const { code } = made;
  const around = [...capture.made.values()].filter((other) =>
    other.code.script === code.script &&
    other.code.class?.privates.has(code.outerPrivate!) === true &&
    other.code.source.start < code.source.start &&
    other.code.source.end >= code.source.end
  );
  const innermost = Math.max(...around.map((other) => other.code.source.start));
  const found = around.filter((other) => other.code.source.start === innermost);
  const [only] = found;
  if (only === undefined) refusePrivate(code);
  if (found.length > 1 || sharing.has(made)) {
    refuseFunction(
      code,
      `it uses the private member ${code.outerPrivate}, and which class's cannot be told`,
    );
  }
  return only.id;
}

/** What a function's maker looks like, and what tells makers of one unit apart. */
function planMaker(
  capture: Capture,
  made: MadeFunction,
  own: Sharing | undefined,
  plans: ReadonlyMap<Scope, ScopePlan>,
  after: ReadonlySet<number> | undefined,
): { plan: MakerPlan; key: string } {
  const node = capture.nodes[made.id] as Extract<
    Node,
    { t: "function" | "class" }
  >;
  const params = parameterNames(made, own);
  const extra = node.params.length - params.length;
  const late = params.map((_, index) => index).filter((index) => {
    const slot = node.params[index + extra];
    return Array.isArray(slot) && (after?.has(slot[0]) ?? false);
  });
  if (late.length > 0) node.late = late.map((index) => index + extra);
  const plan: MakerPlan = {
    code: made.code,
    params,
    late,
    selfName: selfName(made, own),
    stamps: node.t === "class" && node.tools,
    scope: own === undefined ? undefined : plans.get(own.chain.at(-1)!),
    inner: [],
  };
  const { start, end } = made.code.source;
  return {
    plan,
    key: [
      made.code.script.id,
      start,
      end,
      params,
      late,
      plan.selfName,
      plan.stamps,
    ].join(),
  };
}

/** Writes each text once, however many functions are made from it. */
function writeUnits(
  capture: Capture,
  sharing: ReadonlyMap<MadeFunction, Sharing>,
  plans: ReadonlyMap<Scope, ScopePlan>,
  late: ReadonlyMap<number, Set<number>>,
): Unit[] {
  const units: Unit[] = [];
  const alone = new Map<string, number>();
  const together = new Map<
    Script,
    { makers: Map<string, [string, MakerPlan]>; users: MadeFunction[] }
  >();
  const planned = new Map<number, { plan: MakerPlan; key: string }>();
  for (const made of capture.made.values()) {
    planned.set(
      made.id,
      planMaker(capture, made, sharing.get(made), plans, late.get(made.id)),
    );
  }
  for (const made of capture.made.values()) {
    const node = capture.nodes[made.id] as Made;
    if (node.inClass === undefined) continue;
    const { plan, key } = planned.get(made.id)!;
    const around = planned.get(node.inClass)!;
    node.make = `f${around.plan.inner.length}`;
    around.plan.inner.push([node.make, plan]);
    around.key += `\n${key}`;
  }
  for (const made of capture.made.values()) {
    const node = capture.nodes[made.id] as Made;
    if (node.inClass !== undefined) continue;
    const { plan, key } = planned.get(made.id)!;
    if (!sharing.has(made)) {
      let unit = alone.get(key);
      if (unit === undefined) {
        alone.set(key, unit = units.length);
        units.push(UnitWriter.write([["f0", plan]], []));
      }
      node.unit = unit;
      node.make = "f0";
      continue;
    }
    let group = together.get(made.code.script);
    if (group === undefined) {
      together.set(made.code.script, group = { makers: new Map(), users: [] });
    }
    let maker = group.makers.get(key);
    if (maker === undefined) {
      group.makers.set(key, maker = [`f${group.makers.size}`, plan]);
    }
    node.make = maker[0];
    group.users.push(made);
  }
  for (const { makers, users } of together.values()) {
    const scopes = new Map<ScopePlan, string>();
    for (const made of users) {
      (capture.nodes[made.id] as Made).unit = units.length;
      const { chain, instances } = sharing.get(made)!;
      for (const [level, scope] of chain.entries()) {
        const plan = plans.get(scope)!;
        if (!scopes.has(plan)) scopes.set(plan, `s${scopes.size}`);
        const node = capture.nodes[instances[level]!] as Extract<
          Node,
          { t: "scope" }
        >;
        node.unit = units.length;
        node.make = scopes.get(plan)!;
      }
    }
    units.push(
      UnitWriter.write(
        [...makers.values()],
        [...scopes].map(([plan, name]) => [name, plan]),
      ),
    );
  }
  return units;
}

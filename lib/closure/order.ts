/** What must be made before a node: `hard` always, `soft` unless that is a cycle. */
export interface Dependencies {
  hard: number[];
  soft: number[];
}

/** An order in which nodes can be made, and for each the soft dependencies that come after it. */
export interface Order {
  order: number[];
  late: Map<number, Set<number>>;
  /** Nodes that need each other at once: no order exists. */
  impossible: number[] | undefined;
}

/**
 * Orders nodes so that each comes after what it needs. Cycles are cut at soft dependencies.
 * Nothing here recurses: chains may be as long as memory allows.
 */
export function orderNodes(
  count: number,
  dependencies: (node: number) => Dependencies,
): Order {
  const all: Dependencies[] = Array.from(
    { length: count },
    (_, node) => dependencies(node),
  );
  const order: number[] = [];
  const position = new Int32Array(count).fill(-1);
  let impossible: number[] | undefined;
  for (const component of components(all)) {
    const members = new Set(component);
    const sorted = component.length === 1
      ? component
      : sortByHard(component, members, all);
    if (
      sorted.length < component.length ||
      component.length === 1 && all[component[0]!]!.hard.includes(component[0]!)
    ) {
      impossible ??= component;
    }
    for (const node of sorted) {
      position[node] = order.length;
      order.push(node);
    }
  }
  const late = new Map<number, Set<number>>();
  for (const node of order) {
    for (const dependency of all[node]!.soft) {
      if (position[dependency]! < position[node]!) continue;
      const found = late.get(node);
      if (found === undefined) late.set(node, new Set([dependency]));
      else found.add(dependency);
    }
  }
  return { order, late, impossible };
}

/** Kahn's algorithm over the hard dependencies inside one component. */
function sortByHard(
  component: number[],
  members: ReadonlySet<number>,
  all: Dependencies[],
): number[] {
  const missing = new Map<number, number>();
  const dependents = new Map<number, number[]>();
  for (const node of component) {
    const hard = [...new Set(all[node]!.hard)].filter((dependency) =>
      members.has(dependency)
    );
    missing.set(node, hard.length);
    for (const dependency of hard) {
      const list = dependents.get(dependency);
      if (list === undefined) dependents.set(dependency, [node]);
      else list.push(node);
    }
  }
  const ready = component.filter((node) => missing.get(node) === 0);
  const sorted: number[] = [];
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    sorted.push(next);
    for (const dependent of dependents.get(next) ?? []) {
      const left = missing.get(dependent)! - 1;
      missing.set(dependent, left);
      if (left === 0) ready.push(dependent);
    }
  }
  return sorted;
}

/** Strongly connected components, each after those it depends on (Tarjan's algorithm, with its own stack). */
function components(all: Dependencies[]): number[][] {
  const count = all.length;
  const index = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const onStack = new Uint8Array(count);
  const stack: number[] = [];
  const found: number[][] = [];
  let next = 0;
  for (let start = 0; start < count; start++) {
    if (index[start] !== -1) continue;
    const work: { node: number; edges: number[]; at: number }[] = [];
    const enter = (node: number) => {
      index[node] = low[node] = next++;
      stack.push(node);
      onStack[node] = 1;
      const { hard, soft } = all[node]!;
      work.push({
        node,
        edges: soft.length === 0 ? hard : [...hard, ...soft],
        at: 0,
      });
    };
    enter(start);
    for (let frame = work.at(-1); frame !== undefined; frame = work.at(-1)) {
      const { node, edges } = frame;
      if (frame.at < edges.length) {
        const to = edges[frame.at++]!;
        if (index[to] === -1) enter(to);
        else if (onStack[to] === 1) {
          low[node] = Math.min(low[node]!, index[to]!);
        }
        continue;
      }
      work.pop();
      const parent = work.at(-1)?.node;
      if (parent !== undefined) {
        low[parent] = Math.min(low[parent]!, low[node]!);
      }
      if (low[node] !== index[node]) continue;
      const component: number[] = [];
      for (let member = stack.pop()!;; member = stack.pop()!) {
        onStack[member] = 0;
        component.push(member);
        if (member === node) break;
      }
      found.push(component);
    }
  }
  return found;
}

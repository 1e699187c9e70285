/** A function's context in the heap: the scopes' ids, innermost first, with the names that each holds. */
export interface HeapContext {
  id: number;
  /** Heap ids of the values by variable name; `this` among them where an inner arrow function needs it. */
  variables: Map<string, number>;
}

interface SnapshotText {
  snapshot: {
    meta: {
      node_fields: string[];
      edge_fields: string[];
      edge_types: [string[], ...unknown[]];
    };
  };
  nodes: number[];
  edges: number[];
  strings: string[];
}

/** Contexts deeper than this are not followed. */
const MAX_CONTEXTS = 1_000;

/**
 * Reads the context chains of functions out of a heap snapshot. It is the only place where V8 tells
 * which scopes are the same one and what `this` an arrow function holds.
 */
export function readContexts(
  chunks: string[],
  functionIds: number[],
): Map<number, HeapContext[]> {
  const snapshot = JSON.parse(chunks.join("")) as SnapshotText;
  const {
    node_fields: nodeFields,
    edge_fields: edgeFields,
    edge_types: [edgeTypes],
  } = snapshot.snapshot.meta;
  const { nodes, edges, strings } = snapshot;
  const nodeSize = nodeFields.length;
  const edgeSize = edgeFields.length;
  const idField = nodeFields.indexOf("id");
  const countField = nodeFields.indexOf("edge_count");
  const typeField = edgeFields.indexOf("type");
  const nameField = edgeFields.indexOf("name_or_index");
  const toField = edgeFields.indexOf("to_node");
  const context = edgeTypes.indexOf("context");
  const internal = edgeTypes.indexOf("internal");

  const wanted = new Set(functionIds);
  const firstEdge = new Uint32Array(nodes.length / nodeSize + 1);
  const functions = new Map<number, number>();
  let edge = 0;
  for (let at = 0, index = 0; at < nodes.length; at += nodeSize, index++) {
    firstEdge[index] = edge;
    edge += nodes[at + countField]! * edgeSize;
    const id = nodes[at + idField]!;
    if (wanted.has(id)) functions.set(id, index);
  }
  firstEdge[firstEdge.length - 1] = edge;

  function follow(node: number, name: string): number | undefined {
    for (let at = firstEdge[node]!; at < firstEdge[node + 1]!; at += edgeSize) {
      if (
        edges[at + typeField] === internal &&
        strings[edges[at + nameField]!] === name
      ) {
        return edges[at + toField]! / nodeSize;
      }
    }
    return undefined;
  }

  const chains = new Map<number, HeapContext[]>();
  for (const [id, node] of functions) {
    const chain: HeapContext[] = [];
    let current = follow(node, "context");
    while (current !== undefined && chain.length < MAX_CONTEXTS) {
      const variables = new Map<string, number>();
      for (
        let at = firstEdge[current]!;
        at < firstEdge[current + 1]!;
        at += edgeSize
      ) {
        if (edges[at + typeField] !== context) continue;
        variables.set(
          strings[edges[at + nameField]!]!,
          nodes[edges[at + toField]! + idField]!,
        );
      }
      chain.push({ id: nodes[current * nodeSize + idField]!, variables });
      current = follow(current, "previous");
    }
    chains.set(id, chain);
  }
  return chains;
}

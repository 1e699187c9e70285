import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Dependencies, orderNodes } from "../../lib/closure/order.ts";

Deno.test("closure: order puts dependencies first and cuts cycles at soft ones", () => {
  const graph: Dependencies[] = [
    { hard: [], soft: [1] },
    { hard: [], soft: [0] },
    { hard: [0], soft: [2] },
  ];
  const { order, late, impossible } = orderNodes(3, (node) => graph[node]!);
  assertEquals(impossible, undefined);
  assert(order.indexOf(0) < order.indexOf(2));
  assertEquals(
    [...late.values()].map((set) => set.size),
    [1, 1],
    "one edge of the cycle, and the node's own",
  );
});

Deno.test("closure: a cycle of hard dependencies has no order", () => {
  const { impossible } = orderNodes(
    2,
    (node) => ({ hard: [1 - node], soft: [] }),
  );
  assertEquals(impossible?.toSorted(), [0, 1]);
  assertEquals(orderNodes(1, () => ({ hard: [0], soft: [] })).impossible, [0]);
});

Deno.test("closure: a chain of 200,000 nodes is ordered without recursion", () => {
  const { order } = orderNodes(
    200_000,
    (node) => ({ hard: node === 199_999 ? [] : [node + 1], soft: [] }),
  );
  assertEquals([order[0], order.at(-1)], [199_999, 0]);
});

Deno.test("closure: any graph whose hard part is acyclic gets a complete order", () => {
  const edge = fc.tuple(fc.nat(19), fc.nat(19), fc.boolean());
  fc.assert(fc.property(fc.array(edge, { maxLength: 60 }), (edges) => {
    const graph: Dependencies[] = Array.from(
      { length: 20 },
      () => ({ hard: [], soft: [] }),
    );
    for (const [from, to, hard] of edges) {
      if (hard && to < from) graph[from]!.hard.push(to);
      else if (!hard) graph[from]!.soft.push(to);
    }
    const { order, late, impossible } = orderNodes(20, (node) => graph[node]!);
    assertEquals(impossible, undefined);
    assertEquals(order.toSorted((a, b) => a - b), graph.map((_, node) => node));
    const at = new Map(order.map((node, index) => [node, index]));
    for (const [node, { hard, soft }] of graph.entries()) {
      for (const needed of hard) assert(at.get(needed)! < at.get(node)!);
      for (const needed of soft) {
        assert(at.get(needed)! < at.get(node)! || late.get(node)!.has(needed));
      }
    }
  }));
});

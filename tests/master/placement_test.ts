import { assertEquals } from "@std/assert";
import {
  canHoldExecutor,
  type ExecutorRequest,
  type FreeWorker,
  orderWorkers,
  scheduleExecutorsOnWorkers,
} from "../../lib/master/placement.ts";
import { UNLIMITED } from "../../lib/conf/settings.ts";
import { resourceProfile } from "./harness.ts";

function threeWorkers(): FreeWorker[] {
  return ["a", "b", "c"].map((id) => ({ id, coresFree: 10, memoryFree: 512 }));
}

function place(
  request: Partial<ExecutorRequest>,
  spreadOut: boolean,
  workers = threeWorkers(),
): number[] {
  return scheduleExecutorsOnWorkers(
    {
      coresLeft: UNLIMITED,
      coresPerExecutor: null,
      memoryPerExecutor: 128,
      executorsLeft: UNLIMITED,
      ...request,
    },
    workers,
    spreadOut,
  );
}

// MasterSuite: three workers of 10 cores and 512 MiB each.
const CASES: [
  what: string,
  request: Partial<ExecutorRequest>,
  spreadOut: number[],
  filledUp: number[],
][] = [
  ["128 MiB", {}, [10, 10, 10], [10, 10, 10]],
  ["384 MiB", { memoryPerExecutor: 384 }, [10, 10, 10], [10, 10, 10]],
  ["at most 8 cores", { coresLeft: 8 }, [3, 3, 2], [8, 0, 0]],
  ["at most 16 cores", { coresLeft: 16 }, [6, 5, 5], [10, 6, 0]],
  ["2 cores, memory for 4 a worker", { coresPerExecutor: 2 }, [8, 8, 8], [
    8,
    8,
    8,
  ]],
  ["2 cores", { coresPerExecutor: 2, memoryPerExecutor: 32 }, [10, 10, 10], [
    10,
    10,
    10,
  ]],
  ["3 cores", { coresPerExecutor: 3, memoryPerExecutor: 32 }, [9, 9, 9], [
    9,
    9,
    9,
  ]],
  [
    "2 cores, at most 4",
    { coresPerExecutor: 2, memoryPerExecutor: 32, coresLeft: 4 },
    [2, 2, 0],
    [4, 0, 0],
  ],
  [
    "2 cores, at most 20",
    { coresPerExecutor: 2, memoryPerExecutor: 32, coresLeft: 20 },
    [8, 6, 6],
    [10, 10, 0],
  ],
  [
    "3 cores, at most 20, of which 2 are wasted",
    { coresPerExecutor: 3, memoryPerExecutor: 32, coresLeft: 20 },
    [6, 6, 6],
    [9, 9, 0],
  ],
  [
    "no executor",
    { memoryPerExecutor: 32, executorsLeft: 0 },
    [0, 0, 0],
    [0, 0, 0],
  ],
  [
    "2 executors",
    { memoryPerExecutor: 32, executorsLeft: 2 },
    [10, 10, 0],
    [10, 10, 0],
  ],
  [
    "5 executors",
    { memoryPerExecutor: 32, executorsLeft: 5 },
    [10, 10, 10],
    [10, 10, 10],
  ],
  [
    "no executor of 4 cores",
    { coresPerExecutor: 4, memoryPerExecutor: 32, executorsLeft: 0 },
    [0, 0, 0],
    [0, 0, 0],
  ],
  [
    "2 executors of 4 cores",
    { coresPerExecutor: 4, memoryPerExecutor: 32, executorsLeft: 2 },
    [4, 4, 0],
    [8, 0, 0],
  ],
  [
    "5 executors of 4 cores",
    { coresPerExecutor: 4, memoryPerExecutor: 32, executorsLeft: 5 },
    [8, 8, 4],
    [8, 8, 4],
  ],
  [
    "no executor of 4 cores, at most 18",
    {
      coresPerExecutor: 4,
      memoryPerExecutor: 32,
      coresLeft: 18,
      executorsLeft: 0,
    },
    [0, 0, 0],
    [0, 0, 0],
  ],
  [
    "2 executors of 4 cores, at most 18",
    {
      coresPerExecutor: 4,
      memoryPerExecutor: 32,
      coresLeft: 18,
      executorsLeft: 2,
    },
    [4, 4, 0],
    [8, 0, 0],
  ],
  [
    "5 executors of 4 cores, at most 18",
    {
      coresPerExecutor: 4,
      memoryPerExecutor: 32,
      coresLeft: 18,
      executorsLeft: 5,
    },
    [8, 4, 4],
    [8, 8, 0],
  ],
];

for (const [what, request, spreadOut, filledUp] of CASES) {
  Deno.test(`placement: ${what}`, () => {
    assertEquals(place(request, true), spreadOut);
    assertEquals(place(request, false), filledUp);
  });
}

Deno.test("placement: a worker without memory gets no executor, though it has cores", () => {
  const workers = threeWorkers();
  workers[1] = { ...workers[1], memoryFree: 127 };
  assertEquals(place({}, true, workers), [10, 0, 10]);
  assertEquals(place({ coresLeft: 12 }, false, workers), [10, 0, 2]);
});

Deno.test("placement: without workers nothing is placed", () => {
  assertEquals(place({}, true, []), []);
});

Deno.test("placement: a worker holds an executor that takes all it has", () => {
  const worker = { coresFree: 2, memoryFree: 128 };
  assertEquals(canHoldExecutor(worker, resourceProfile(0, 128, 2)), true);
  assertEquals(canHoldExecutor(worker, resourceProfile(0, 129, 2)), false);
  assertEquals(canHoldExecutor(worker, resourceProfile(0, 128, 3)), false);
  assertEquals(canHoldExecutor(worker, resourceProfile(0, 128)), true);
  assertEquals(
    canHoldExecutor(worker, {
      ...resourceProfile(0, 128),
      resourcesPerExecutor: [{ name: "gpu", amount: 1 }],
    }),
    false,
  );
});

// WorkerSelectionSuite: app of two executors of 2 cores and 128 MiB.
const SELECTION_WORKERS: FreeWorker[] = [
  { id: "10001", coresFree: 5, memoryFree: 1280 },
  { id: "10002", coresFree: 6, memoryFree: 5120 },
  { id: "10003", coresFree: 7, memoryFree: 3840 },
];

for (
  const [policy, spreadOut, filledUp] of [
    ["CORES_FREE_ASC", ["10001", "10002"], ["10001"]],
    ["CORES_FREE_DESC", ["10002", "10003"], ["10003"]],
    ["MEMORY_FREE_ASC", ["10001", "10003"], ["10001"]],
    ["MEMORY_FREE_DESC", ["10002", "10003"], ["10002"]],
    ["WORKER_ID", ["10001", "10002"], ["10001"]],
  ] as const
) {
  Deno.test(`placement: ${policy} says which workers are taken`, () => {
    const workers = orderWorkers(SELECTION_WORKERS, policy);
    const used = (spread: boolean) => {
      const cores = place({ coresPerExecutor: 2, coresLeft: 4 }, spread, [
        ...workers,
      ]);
      return workers.filter((_, at) => cores[at] > 0).map(({ id }) => id)
        .sort();
    };
    assertEquals(used(true), [...spreadOut]);
    assertEquals(used(false), [...filledUp]);
  });
}

Deno.test("placement: of equal workers the largest id comes first under the default policy", () => {
  const order = (policy: Parameters<typeof orderWorkers>[1]) =>
    orderWorkers(threeWorkers(), policy).map(({ id }) => id);
  assertEquals(order("CORES_FREE_DESC"), ["c", "b", "a"]);
  assertEquals(order("CORES_FREE_ASC"), ["a", "b", "c"]);
  assertEquals(order("MEMORY_FREE_DESC"), ["c", "b", "a"]);
});

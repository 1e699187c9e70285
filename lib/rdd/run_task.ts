import { ShuffleWriter } from "../shuffle/shuffle_writer.ts";
import { actionSink } from "./actions.ts";
import { isFusible } from "./fuse.ts";
import type { PartitionSpec, Plan, Sink, StageProgram } from "./plan.ts";
import { runPlan } from "./run_plan.ts";
import type { TaskEnvironment } from "./task_environment.ts";

/** What a task leaves behind when it has succeeded. */
export type TaskOutput =
  | {
    readonly type: "shuffle";
    readonly path: string;
    /** By reduce partition: offset, length, … in the file. */
    readonly segments: readonly (readonly number[])[];
  }
  | { readonly type: "action"; readonly result: Uint8Array };

/** Runs one partition of a stage. */
export async function runTask(
  program: StageProgram,
  spec: PartitionSpec,
  environment: TaskEnvironment,
): Promise<TaskOutput> {
  const { plan, sink } = withAsyncAction(program);
  return sink.type === "shuffle"
    ? await runShuffle(plan, spec, environment, sink)
    : await runAction(plan, spec, environment, sink);
}

async function runShuffle(
  plan: Plan,
  spec: PartitionSpec,
  environment: TaskEnvironment,
  sink: Extract<Sink, { type: "shuffle" }>,
): Promise<TaskOutput> {
  const { combine } = sink;
  using writer = new ShuffleWriter({
    path: environment.newShuffleFile(sink.shuffleId),
    partitioner: sink.partitioner,
    merge: combine === "none"
      ? undefined
      : combine === "distinct"
      ? (held) => held
      : combine.f,
  });
  await runPlan(plan, spec, environment, writer.sink());
  return { type: "shuffle", path: writer.path, segments: writer.finish() };
}

async function runAction(
  plan: Plan,
  spec: PartitionSpec,
  environment: TaskEnvironment,
  { action }: Extract<Sink, { type: "action" }>,
): Promise<TaskOutput> {
  using result = actionSink(action, environment.context);
  await runPlan(plan, spec, environment, result.push);
  return { type: "action", result: result.finish() };
}

/** An async `foreach` waits for its calls as an async `map` does. */
function withAsyncAction(program: StageProgram): StageProgram {
  const { plan, sink } = program;
  if (sink.type !== "action" || sink.action.type !== "foreach") return program;
  const { f, async } = sink.action;
  const op = { type: "map", f, async } as const;
  if (isFusible(op)) return program;
  return {
    plan: { type: "op", parent: plan, op },
    sink: { type: "action", action: { type: "count" } },
  };
}

import { assertEquals } from "@std/assert";
import {
  isFinishedApplication,
  isFinishedExecutor,
  isFinishedTask,
} from "../../lib/messages/states.ts";

Deno.test("states: an executor has ended when it is KILLED, FAILED, LOST or EXITED", () => {
  const states = [
    "LAUNCHING",
    "RUNNING",
    "KILLED",
    "FAILED",
    "LOST",
    "EXITED",
    "DECOMMISSIONED",
  ] as const;
  assertEquals(states.filter(isFinishedExecutor), [
    "KILLED",
    "FAILED",
    "LOST",
    "EXITED",
  ]);
});

Deno.test("states: an application has ended when it is FINISHED, FAILED or KILLED", () => {
  const states = [
    "WAITING",
    "RUNNING",
    "FINISHED",
    "FAILED",
    "KILLED",
    "UNKNOWN",
  ] as const;
  assertEquals(states.filter(isFinishedApplication), [
    "FINISHED",
    "FAILED",
    "KILLED",
  ]);
});

Deno.test("states: a task has ended when it is FINISHED, FAILED, KILLED or LOST", () => {
  const states = [
    "LAUNCHING",
    "RUNNING",
    "FINISHED",
    "FAILED",
    "KILLED",
    "LOST",
  ] as const;
  assertEquals(states.filter(isFinishedTask), [
    "FINISHED",
    "FAILED",
    "KILLED",
    "LOST",
  ]);
});

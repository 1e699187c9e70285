import type { Milliseconds } from "../conf/units.ts";
import { getLogger } from "../log.ts";
import type { EndpointRef } from "../messages/addresses.ts";
import type { RpcCallContext } from "./endpoint.ts";
import { describeError, RpcError, RpcTimeoutError } from "./errors.ts";
import type { Machine, MachineEffect, MachineEvent } from "./machine.ts";
import type { RpcEnv } from "./rpc_env.ts";

/** What runs a state machine on real sockets and clocks. */
export interface MachineHost<E> {
  /** The reference under which others reach the machine. */
  readonly ref: EndpointRef;
  /** Feeds an event that is the part's own, such as a process's exit. */
  dispatch(event: E): void;
  /** The exit code, once the machine wants the process to end. */
  readonly exited: Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
}

/**
 * Registers a machine as an endpoint and drives it: messages, connections
 * that end, timers and answers become events; effects are carried out. Those
 * beyond the common ones go to `carryOut`.
 */
export function runMachine<M, E, F>(
  env: RpcEnv,
  name: string,
  machine: Machine<E | MachineEvent<M>, F | MachineEffect>,
  carryOut: (effect: Exclude<F, MachineEffect>) => void,
): MachineHost<E | MachineEvent<M>> {
  const log = getLogger(name);
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const replies = new Map<number, RpcCallContext>();
  const exited = Promise.withResolvers<{ code: number; reason: string }>();
  let nextReply = 0;
  let closed = false;

  function dispatch(event: E | MachineEvent<M>): void {
    if (closed) return;
    for (const effect of machine.handle(event, Date.now())) perform(effect);
  }

  function perform(effect: F | MachineEffect): void {
    const common = effect as MachineEffect;
    switch (common.type) {
      case "send":
        return env.send(common.to, common.message);
      case "ask":
        return void ask(common);
      case "reply":
      case "replyFailure": {
        const context = replies.get(common.to);
        replies.delete(common.to);
        if (common.type === "reply") context?.reply(common.value);
        else context?.sendFailure(new RpcError(common.error));
        return;
      }
      case "log":
        return log[common.level](common.message);
      case "setTimer":
        return setTimer(common.timer, common.after);
      case "clearTimer":
        clearTimeout(timers.get(common.timer));
        timers.delete(common.timer);
        return;
      case "exit":
        return exited.resolve(common);
      default:
        return carryOut(effect as Exclude<F, MachineEffect>);
    }
  }

  async function ask(
    effect: Extract<MachineEffect, { type: "ask" }>,
  ): Promise<void> {
    const { token } = effect;
    try {
      const value = await env.ask(effect.to, effect.message, {
        timeout: effect.timeout,
      });
      dispatch({ type: "answer", token, value });
    } catch (error) {
      dispatch({
        type: "askFailed",
        token,
        error: describeError(error),
        timedOut: error instanceof RpcTimeoutError,
      });
    }
  }

  function setTimer(timer: string, after: Milliseconds): void {
    clearTimeout(timers.get(timer));
    timers.set(
      timer,
      setTimeout(() => {
        timers.delete(timer);
        dispatch({ type: "timer", timer });
      }, after),
    );
  }

  const ref = env.register(name, {
    onStart: () => dispatch({ type: "start" }),
    receive: (message, sender) =>
      dispatch({ type: "message", message: message as M, sender, reply: null }),
    receiveAndReply: (message, context) => {
      const reply = nextReply++;
      replies.set(reply, context);
      const { sender } = context;
      try {
        dispatch({ type: "message", message: message as M, sender, reply });
      } catch (error) {
        replies.delete(reply);
        throw error;
      }
    },
    onDisconnected: (address) => dispatch({ type: "disconnected", address }),
  });

  return {
    ref,
    dispatch,
    exited: exited.promise,
    async close() {
      closed = true;
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      await env.unregister(name);
    },
  };
}

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
  const events: (E | MachineEvent<M>)[] = [];
  let nextReply = 0;
  let handling = false;
  let closed = false;

  /**
   * One event is carried out to its last effect before the next is handled,
   * also when an effect itself leads to one.
   */
  function dispatch(event: E | MachineEvent<M>): void {
    if (closed) return;
    events.push(event);
    if (handling) return;
    handling = true;
    for (let next = events.shift(); next; next = events.shift()) handle(next);
    handling = false;
  }

  function handle(event: E | MachineEvent<M>): void {
    let effects: (F | MachineEffect)[];
    try {
      effects = machine.handle(event, Date.now());
    } catch (error) {
      log.error(`Failed to handle ${describeEvent(event)}`, error);
      failReplyTo(event as MachineEvent<M>, error);
      return;
    }
    for (const effect of effects) {
      try {
        perform(effect);
      } catch (error) {
        const { type } = effect as { type?: unknown };
        log.error(`Failed to carry out ${type}`, error);
      }
    }
  }

  function failReplyTo(event: MachineEvent<M>, error: unknown): void {
    if (event.type !== "message" || event.reply === null) return;
    replies.get(event.reply)?.sendFailure(error);
    replies.delete(event.reply);
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
        return exited.resolve({ code: common.code, reason: common.reason });
      default:
        return carryOut(effect as Exclude<F, MachineEffect>);
    }
  }

  async function ask(
    effect: Extract<MachineEffect, { type: "ask" }>,
  ): Promise<void> {
    const { token, timeout } = effect;
    let event: MachineEvent<M>;
    try {
      const value = await env.ask(effect.to, effect.message, { timeout });
      event = { type: "answer", token, value };
    } catch (error) {
      const timedOut = error instanceof RpcTimeoutError;
      event = {
        type: "askFailed",
        token,
        error: describeError(error),
        timedOut,
      };
    }
    dispatch(event);
  }

  function setTimer(timer: string, after: Milliseconds): void {
    clearTimeout(timers.get(timer));
    // One that another call has replaced meanwhile is cleared, so what fires
    // is always the one in the table.
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
    receive: (message, sender) => {
      mustBeMessage(message);
      dispatch({ type: "message", message: message as M, sender, reply: null });
    },
    receiveAndReply: (message, context) => {
      mustBeMessage(message);
      const reply = nextReply++;
      replies.set(reply, context);
      const { sender } = context;
      dispatch({ type: "message", message: message as M, sender, reply });
    },
    onDisconnected: (address) => dispatch({ type: "disconnected", address }),
    onStop: stop,
  });

  function stop(): void {
    closed = true;
    for (const timer of timers.values()) clearTimeout(timer);
    timers.clear();
    for (const context of replies.values()) {
      context.sendFailure(new RpcError(`${name} has stopped.`));
    }
    replies.clear();
  }

  return {
    ref,
    dispatch,
    exited: exited.promise,
    async close() {
      stop();
      await env.unregister(name);
    },
  };
}

/** A peer can send whatever its payload can say, such as a null. */
function mustBeMessage(message: unknown): void {
  if (typeof message === "object" && message !== null) return;
  throw new RpcError(
    `It takes messages, and got ${message === null ? "null" : typeof message}.`,
  );
}

function describeEvent(event: unknown): string {
  const { type, message } = event as {
    type?: unknown;
    message?: { type?: unknown };
  };
  return type === "message" ? `${message?.type}` : `the event ${type}`;
}

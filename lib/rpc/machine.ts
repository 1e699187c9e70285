/**
 * The shape that the state machines of master, worker and application share,
 * so that one shell and one simulation can drive them all.
 *
 * A machine has no I/O: `handle(event, now)` changes its state and returns
 * what is to be done. Time comes in with the event; so does randomness, drawn
 * by the shell and given to the constructor or in an event.
 *
 * @module
 */
import type { Milliseconds } from "../conf/units.ts";
import type { EndpointRef, RpcAddress } from "../messages/addresses.ts";

/** Names one ask that waits for this machine's answer. */
export type ReplyToken = number;

/** What happens to any machine. */
export type MachineEvent<M> =
  | { readonly type: "start" }
  | {
    readonly type: "message";
    readonly message: M;
    readonly sender: RpcAddress;
    /** Set when the message is an ask; to be answered exactly once. */
    readonly reply: ReplyToken | null;
  }
  | { readonly type: "timer"; readonly timer: string }
  /** The last connection with the process at this address is gone. */
  | { readonly type: "disconnected"; readonly address: RpcAddress }
  /** How an "ask" effect ended; `error` says why there is no answer. */
  | { readonly type: "answer"; readonly token: string; readonly value: unknown }
  | {
    readonly type: "askFailed";
    readonly token: string;
    readonly error: string;
    readonly timedOut: boolean;
  };

export type LogLevel = "debug" | "info" | "warn" | "error";

/** What any machine may want done. */
export type MachineEffect =
  | {
    readonly type: "send";
    readonly to: EndpointRef;
    readonly message: { readonly type: string };
  }
  /** Its outcome comes back as "answer" or "askFailed" with this token. */
  | {
    readonly type: "ask";
    readonly to: EndpointRef;
    readonly message: { readonly type: string };
    readonly token: string;
    readonly timeout?: Milliseconds;
  }
  | { readonly type: "reply"; readonly to: ReplyToken; readonly value: unknown }
  | {
    readonly type: "replyFailure";
    readonly to: ReplyToken;
    readonly error: string;
  }
  | {
    readonly type: "log";
    readonly level: LogLevel;
    readonly message: string;
  }
  /** Starts a timer, or starts it anew; it fires once. */
  | {
    readonly type: "setTimer";
    readonly timer: string;
    readonly after: Milliseconds;
  }
  | { readonly type: "clearTimer"; readonly timer: string }
  /** The process is to end: its reason is shown, its status is the code. */
  | { readonly type: "exit"; readonly code: number; readonly reason: string };

/** A state machine without I/O. */
export interface Machine<E, F> {
  handle(event: E, now: Milliseconds): F[];
}

import type { RpcAddress } from "../../lib/messages/addresses.ts";
import type {
  Machine,
  MachineEffect,
  MachineEvent,
} from "../../lib/rpc/machine.ts";
import type { Message } from "./connection.ts";
import { type Answer, type Endpoint, SimProcess } from "./sim_process.ts";
import type { Scheduled } from "./virtual_clock.ts";
import type { World } from "./world.ts";

export interface SimHostOptions<E, F> {
  readonly world: World;
  readonly address: RpcAddress;
  readonly endpoint: string;
  /** How the trace calls the process. */
  readonly label: string;
  readonly machine: Machine<E, F>;
  /** Carries out what is the part's own, or just looks at what is not. */
  carryOut(effect: F): void;
  /** Called after every event; throws when something is wrong. */
  check(): void;
}

/**
 * A process that runs a state machine: what lib/rpc's runMachine is to a real
 * one. Like there, one event is carried out to its last effect before the next.
 */
export class SimHost<M extends Message, E, F> implements Endpoint {
  readonly name: string;
  readonly process: SimProcess;
  readonly #options: SimHostOptions<E | MachineEvent<M>, F | MachineEffect>;
  readonly #timers = new Map<string, Scheduled>();
  readonly #answers = new Map<number, Answer>();
  readonly #events: (E | MachineEvent<M>)[] = [];
  /** Outcomes of asks that are not the machine's. */
  readonly #ownAsks = new Map<string, (value: unknown) => void>();
  #nextAnswer = 0;
  #handling = false;

  constructor(
    options: SimHostOptions<E | MachineEvent<M>, F | MachineEffect>,
  ) {
    const { world, address, endpoint } = options;
    this.#options = options;
    this.name = endpoint;
    this.process = new SimProcess(world.network, address, this);
    world.clock.schedule(0, () => this.dispatch({ type: "start" }));
  }

  /** Feeds an event; to a process that is gone, nothing happens. */
  dispatch(event: E | MachineEvent<M>): void {
    this.process.run(() => {
      this.#events.push(event);
      if (this.#handling) return;
      this.#handling = true;
      for (let next = this.#events.shift(); next; next = this.#events.shift()) {
        this.#handle(next);
      }
      this.#handling = false;
    });
  }

  /** Asks something beside the machine; a failure is told as undefined. */
  askBeside(
    to: Parameters<SimProcess["ask"]>[0],
    message: Message,
    done: (value: unknown) => void,
  ): void {
    const token = `beside-${this.#nextAnswer++}`;
    this.#ownAsks.set(token, done);
    this.process.ask(to, message, token);
  }

  message(message: Message, sender: RpcAddress, answer: Answer | null): void {
    let reply: number | null = null;
    if (answer !== null) {
      reply = this.#nextAnswer++;
      this.#answers.set(reply, answer);
    }
    this.dispatch({ type: "message", message: message as M, sender, reply });
  }

  disconnected(address: RpcAddress): void {
    this.dispatch({ type: "disconnected", address });
  }

  answered(token: string, value: unknown): void {
    if (this.#endOwnAsk(token, value)) return;
    this.dispatch({ type: "answer", token, value });
  }

  askFailed(token: string, error: string, timedOut: boolean): void {
    if (this.#endOwnAsk(token, undefined)) return;
    this.dispatch({ type: "askFailed", token, error, timedOut });
  }

  #endOwnAsk(token: string, value: unknown): boolean {
    const done = this.#ownAsks.get(token);
    this.#ownAsks.delete(token);
    done?.(value);
    return done !== undefined;
  }

  #handle(event: E | MachineEvent<M>): void {
    const { machine, world, label, check } = this.#options;
    world.trace.add(label, `< ${describe(event)}`);
    const effects = machine.handle(event, world.clock.now);
    check();
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: F | MachineEffect): void {
    const { world, label, carryOut } = this.#options;
    const common = effect as MachineEffect;
    // Whoever looks at effects sees them before they are carried out.
    if (common.type !== "exit") carryOut(effect);
    switch (common.type) {
      case "send":
        world.trace.add(label, `> ${describe(common)}`);
        return this.process.send(common.to, common.message);
      case "ask":
        world.trace.add(label, `> ${describe(common)}`);
        return this.process.ask(
          common.to,
          common.message,
          common.token,
          common.timeout,
        );
      case "reply":
        return this.#answer(common.to, { value: common.value });
      case "replyFailure":
        return this.#answer(common.to, { error: common.error });
      case "log":
        if (common.level === "warn" || common.level === "error") {
          world.trace.add(label, `# ${common.message}`);
        }
        return;
      case "setTimer":
        return this.#setTimer(common.timer, common.after);
      case "clearTimer":
        return this.#clearTimer(common.timer);
      case "exit":
        world.trace.add(label, `exits with ${common.code}: ${common.reason}`);
        this.process.close();
        return carryOut(effect);
    }
  }

  #answer(to: number, result: Parameters<Answer>[0]): void {
    this.#answers.get(to)?.(result);
    this.#answers.delete(to);
  }

  #setTimer(timer: string, after: number): void {
    this.#clearTimer(timer);
    const scheduled = this.#options.world.clock.schedule(
      after,
      () =>
        this.process.run(() => {
          // A process that stood still may have been about to clear it.
          if (this.#timers.get(timer) !== scheduled) return;
          this.#timers.delete(timer);
          this.dispatch({ type: "timer", timer });
        }),
    );
    this.#timers.set(timer, scheduled);
  }

  #clearTimer(timer: string): void {
    const scheduled = this.#timers.get(timer);
    if (scheduled) scheduled.cancelled = true;
    this.#timers.delete(timer);
  }
}

/** An event or an effect in one line: its message, or all its plain fields. */
function describe(event: unknown): string {
  const { message, type, to, sender: _, ...rest } = event as Record<
    string,
    unknown
  >;
  const fields = typeof message === "object" && message !== null
    ? message as Record<string, unknown>
    : { type, message, ...rest };
  const parts = Object.entries(fields)
    .filter(([key, value]) =>
      key !== "type" && value !== null && value !== undefined &&
      (typeof value !== "object" || key === "executors" || key === "address")
    )
    .map(([key, value]) => `${key}=${brief(value)}`);
  const target = to
    ? ` to ${brief((to as { address?: unknown }).address)}`
    : "";
  return `${fields.type}${target} ${parts.join(" ")}`;
}

function brief(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(brief).join(" ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const { host, port, appId, execId, state } = value as Record<string, unknown>;
  if (host !== undefined) return `${host}:${port}`;
  return appId === undefined ? "{}" : `${appId}/${execId}:${state}`;
}

import type { Milliseconds } from "../../lib/conf/units.ts";
import type { RpcAddress } from "../../lib/messages/addresses.ts";

/** A message as machines send it. */
export interface Message {
  readonly type: string;
}

/** What travels over a connection. */
export type Frame =
  | {
    readonly kind: "message";
    readonly sender: RpcAddress;
    readonly receiver: string;
    readonly message: Message;
    /** Set when an answer is expected. */
    readonly ask: number | null;
  }
  | { readonly kind: "answer"; readonly ask: number; readonly value: unknown }
  | { readonly kind: "failure"; readonly ask: number; readonly error: string }
  /** The sender has closed in good order; nothing follows. */
  | { readonly kind: "end" };

/** The process that has an end of a connection. */
export interface EndUser {
  readonly host: string;
  /** A frame has come; only while the end is open. */
  received(end: End, frame: Frame): void;
  /** The end has just been found closed, by the other side or by a fault. */
  closed(end: End): void;
}

/** What a connection needs of its network. */
export interface Medium {
  readonly now: Milliseconds;
  /** How long the next frame is on its way. */
  delay(): Milliseconds;
  /** Whether nothing gets from one host to the other at present. */
  isCut(from: string, to: string): boolean;
  schedule(after: Milliseconds, action: () => void): void;
}

/** One direction of a connection: frames arrive in order, each after a delay. */
class Pipe {
  readonly #medium: Medium;
  readonly #from: string;
  readonly #to: End;
  #frames: { readonly frame: Frame; readonly at: Milliseconds }[] = [];
  #lastArrival: Milliseconds = 0;
  #broken = false;
  #stalled = false;
  #waiting = false;

  constructor(medium: Medium, from: string, to: End) {
    this.#medium = medium;
    this.#from = from;
    this.#to = to;
  }

  get inFlight(): number {
    return this.#frames.length;
  }

  push(frame: Frame): void {
    if (this.#broken) return; // the sender has yet to find that out
    const { now } = this.#medium;
    const at = Math.max(this.#lastArrival, now + this.#medium.delay());
    this.#lastArrival = at;
    this.#frames.push({ frame, at });
    this.#awaitFirst();
  }

  /** Loses what is in flight, but for the first frames, and all that follows. */
  break(kept: number): void {
    this.#broken = true;
    this.#frames.length = Math.min(kept, this.#frames.length);
  }

  /** The hosts reach each other again: what was held up is sent anew. */
  resume(): void {
    if (!this.#stalled) return;
    this.#stalled = false;
    this.#awaitFirst(this.#medium.delay());
  }

  #awaitFirst(least: Milliseconds = 0): void {
    if (this.#waiting || this.#stalled || this.#frames.length === 0) return;
    this.#waiting = true;
    const after = Math.max(this.#frames[0].at - this.#medium.now, least);
    this.#medium.schedule(after, () => this.#arrive());
  }

  #arrive(): void {
    this.#waiting = false;
    if (this.#medium.isCut(this.#from, this.#to.user.host)) {
      this.#stalled = true;
      return;
    }
    const first = this.#frames.shift();
    this.#awaitFirst();
    if (first !== undefined && this.#to.open) this.#to.arrived(first.frame);
  }
}

/** One end of a connection, as its process has it. */
export class End {
  /** All addresses by which the other side is known over this connection. */
  readonly addresses: RpcAddress[] = [];
  /** Own asks that are to be answered over it: their tokens by number. */
  readonly asks = new Map<number, string>();
  open = true;
  #outgoing!: Pipe;

  constructor(
    readonly user: EndUser,
    /** What was dialled; undefined at the end that was dialled. */
    readonly dialled: RpcAddress | undefined,
  ) {}

  /** Frames from this end that have not arrived. */
  get inFlight(): number {
    return this.#outgoing.inFlight;
  }

  /** Joins this end to the other one. */
  attach(outgoing: Pipe): void {
    this.#outgoing = outgoing;
  }

  send(frame: Frame): void {
    if (this.open) this.#outgoing.push(frame);
  }

  arrived(frame: Frame): void {
    if (frame.kind === "end") this.noticeClosed();
    else this.user.received(this, frame);
  }

  /** Closes in good order: what was sent before still arrives. */
  close(): void {
    this.send({ kind: "end" });
    this.open = false;
  }

  /** The process learns that the connection is gone. */
  noticeClosed(): void {
    if (!this.open) return;
    this.open = false;
    this.user.closed(this);
  }
}

/** A connection: two ends and a pipe in each direction. */
export class Connection {
  readonly dialler: End;
  readonly acceptor: End;
  readonly #there: Pipe;
  readonly #back: Pipe;

  constructor(
    medium: Medium,
    dialler: EndUser,
    acceptor: EndUser,
    dialled: RpcAddress,
  ) {
    this.dialler = new End(dialler, dialled);
    this.acceptor = new End(acceptor, undefined);
    this.#there = new Pipe(medium, dialler.host, this.acceptor);
    this.#back = new Pipe(medium, acceptor.host, this.dialler);
    this.dialler.attach(this.#there);
    this.acceptor.attach(this.#back);
  }

  get ends(): readonly [End, End] {
    return [this.dialler, this.acceptor];
  }

  get isOver(): boolean {
    return !this.dialler.open && !this.acceptor.open;
  }

  /**
   * Nothing more gets through. Of what is in flight in each direction the
   * first part may still arrive, as a stream loses its end and not its middle.
   *
   * @param keep How many of so many frames arrive.
   */
  break(keep: (inFlight: number) => number): void {
    for (const pipe of [this.#there, this.#back]) {
      pipe.break(keep(pipe.inFlight));
    }
  }

  resume(): void {
    this.#there.resume();
    this.#back.resume();
  }
}

const SHUTDOWN_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A signal that asks a daemon to shut down. */
export type ShutdownSignal = typeof SHUTDOWN_SIGNALS[number];

export interface ShutdownSignalOptions {
  /**
   * Called for a second Ctrl-C, when the shutdown takes too long for the
   * user. Default: ends the process at once with 130.
   */
  readonly onImpatience?: () => void;
}

/**
 * Calls `handler` for the first SIGTERM, SIGINT or SIGHUP. Later ones change
 * nothing, but that a second SIGINT ends the process at once.
 *
 * SIGHUP stays ignored where the process was started so, as by `nohup`.
 *
 * @returns A function that takes the listeners away.
 */
export function onShutdownSignal(
  handler: (signal: ShutdownSignal) => void,
  options: ShutdownSignalOptions = {},
): () => void {
  const { onImpatience = () => Deno.exit(130) } = options;
  let asked = false;
  let interrupted = false;
  function receive(signal: ShutdownSignal): void {
    if (signal === "SIGINT") {
      if (interrupted) return onImpatience();
      interrupted = true;
    }
    if (asked) return;
    asked = true;
    handler(signal);
  }
  // Asked before any listener is there, for that changes the answer.
  const hangupIgnored = ignoresHangup();
  const listeners = SHUTDOWN_SIGNALS.map((signal) => {
    const listener = signal === "SIGHUP" && hangupIgnored
      // With any listener the runtime takes SIGHUP from those who ignore it,
      // and ends the process unless there is a listener for it too.
      ? () => {}
      : () => receive(signal);
    Deno.addSignalListener(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners.splice(0)) {
      Deno.removeSignalListener(signal, listener);
    }
  };
}

/** Whether SIGHUP is ignored; where that can't be seen, it counts as so. */
function ignoresHangup(): boolean {
  try {
    const status = Deno.readTextFileSync("/proc/self/status");
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(status);
    return mask === null || (BigInt(`0x${mask[1]}`) & 1n) === 1n;
  } catch (error) {
    if (
      error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.PermissionDenied ||
      error instanceof Deno.errors.NotCapable
    ) return true;
    throw error;
  }
}

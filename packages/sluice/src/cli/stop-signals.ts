import { constants } from "node:os";

/** Added to the number of a signal, as shells do: the exit code of a process that a signal has ended. */
const SIGNAL_CODE = 128;

/**
 * SIGINT and SIGTERM of a command that runs until one of them. The second exits at once, by `process.exit` rather than by
 * the signal itself: programs of maps are ended in the event "exit".
 */
export class StopSignals {
  readonly #stopping = new AbortController();
  /** Resolves with the first signal. */
  readonly first: Promise<undefined>;

  constructor() {
    const { signal } = this.#stopping;
    this.first = new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    process.on("SIGINT", this.#stop).on("SIGTERM", this.#stop);
  }

  get hasCome(): boolean {
    return this.#stopping.signal.aborted;
  }

  close(): void {
    for (const listener of [this.#stop, exit])
      process.off("SIGINT", listener).off("SIGTERM", listener);
  }

  readonly #stop = (): void => {
    this.close();
    process.on("SIGINT", exit).on("SIGTERM", exit);
    this.#stopping.abort();
  };
}

let early: StopSignals | undefined;

/**
 * Listens for a command that will run, before its modules are loaded: that takes about 0.7 s, in which a signal would end
 * the process itself. A SIGHUP then, or during a drain, has no effect: a changed flow file is found by the first look at it.
 */
export function listenEarly([command, ...args]: readonly string[]): void {
  const isRun = command === "run";
  if (!isRun && (command !== "broker" || args.includes("inspect"))) return;
  early = new StopSignals();
  if (isRun && !args.includes("-")) process.on("SIGHUP", ignore);
}

/** The signals since `listenEarly`, or from now on. */
export function stopSignals(): StopSignals {
  const signals = early ?? new StopSignals();
  early = undefined;
  return signals;
}

function exit(signal: NodeJS.Signals): void {
  process.exit(SIGNAL_CODE + constants.signals[signal]);
}

function ignore(): void {}

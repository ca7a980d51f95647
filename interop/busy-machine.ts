/** Whether other work kept this process and its clients from the processor, told by the operating system. */
import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";

/**
 * Part of the time that this process's main thread could have run, but another thread had the core. With our
 * own clients alone on two cores it was 0.02 to 0.05, beside other work 0.12 to 0.32.
 */
const WAITED_PART_MAX = 0.08;

/** Threads that run or want to, besides the one that asks, per core. From one on, threads wait. */
const RUNNABLE_PER_CORE_MAX = 1;

/** How much the machine had to do between `new` and `stop`. */
export interface Business {
  /** Part of the time that the gateway's thread waited for a core; `undefined` off Linux. */
  readonly waitedPart: number | undefined;
  /** Mean of samples; off Linux the load average of the last minute. */
  readonly runnablePerCore: number;
  readonly isBusy: boolean;
}

/**
 * Two facts of the kernel, neither of which a slow gateway could cause: how long our thread stood in the run
 * queue (`/proc/self/schedstat`), and how many threads were runnable (`/proc/loadavg`), which also tells of
 * clients that wait. The one-minute average is no use: it remembers the tests before.
 */
export class BusyMachine {
  readonly #startedNs: bigint = process.hrtime.bigint();
  readonly #waitedNs: bigint | undefined = waitedNs();
  #runnable = 0;
  #samples = 0;

  /** To be called often; every 20 ms in the tests. */
  sample(): void {
    this.#runnable += runnable();
    this.#samples++;
  }

  stop(): Business {
    const [now, waited] = [process.hrtime.bigint(), waitedNs()];
    const waitedPart =
      waited === undefined || this.#waitedNs === undefined
        ? undefined
        : Number(waited - this.#waitedNs) / Number(now - this.#startedNs);
    const runnablePerCore = this.#runnable / Math.max(1, this.#samples) / availableParallelism();
    const isBusy = (waitedPart ?? 0) > WAITED_PART_MAX || runnablePerCore > RUNNABLE_PER_CORE_MAX;
    return { waitedPart, runnablePerCore, isBusy };
  }
}

function waitedNs(): bigint | undefined {
  const [, waited] = textOf("/proc/self/schedstat")?.split(" ") ?? [];
  return waited === undefined ? undefined : BigInt(waited);
}

function runnable(): number {
  const now = /(\d+)\/\d+ \d+\s*$/.exec(textOf("/proc/loadavg") ?? "")?.[1];
  return now === undefined ? (loadavg()[0] ?? 0) : Math.max(0, Number(now) - 1);
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // Only Linux has these files.
    return undefined;
  }
}

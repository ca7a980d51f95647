import type { Random, Timer } from "@sluice/core";
import type { PipelineEvent } from "./pipeline-event.ts";

/** What every part of a running pipeline has. */
export interface RunContext {
  readonly pipeline: string;
  readonly timer: Timer;
  readonly random: Random;
  /** Lets other work of the event loop run. */
  readonly endTurn: () => Promise<void>;
  /** Never throws. */
  readonly tell: (event: PipelineEvent) => void;
  /** Aborted when reading from the source ends: a drain begins. */
  readonly stopped: AbortSignal;
  /** Aborted at the drain's deadline: nothing is started any more. */
  readonly cut: AbortSignal;
  /** Aborted soon after the drain's deadline: writes that still run are given up. */
  readonly abandoned: AbortSignal;
}

/** Sleeps unless the signal is aborted; answers whether the whole time has passed. */
export async function slept(timer: Timer, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await timer.sleep(ms, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

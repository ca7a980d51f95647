import type { Chart, Miss } from "@sluice/lab/browser";
import type { Outcome } from "../model/kind.ts";

/** To the worker: a scenario to run. */
export interface RunRequest {
  readonly id: number;
  readonly text: string;
}

/** What a run came to. */
export interface RunResult {
  readonly chart: Chart;
  readonly outcome: Outcome;
  readonly missed: readonly Miss[];
  /** How long the worker took, ms. */
  readonly tookMs: number;
}

/** A mistake in the scenario, or a run that was given up. */
export interface RunProblem {
  readonly message: string;
  readonly line?: number | undefined;
}

/** From the worker. */
export type RunAnswer =
  | { readonly id: number; readonly result: RunResult }
  | { readonly id: number; readonly problem: RunProblem };

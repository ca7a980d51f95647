import { renderSvg } from "../chart/svg.ts";
import { missedOf } from "./expect.ts";
import type { Miss } from "./expect.ts";
import type { Run, Row, Scenario } from "./kind.ts";

/** What a run came to: the object that `sluice simulate --json` prints. */
export interface Result {
  readonly kind: string;
  readonly title: string;
  readonly rows: readonly Row[];
  readonly stats?: object;
  readonly verdict?: Readonly<Record<string, unknown>>;
  /** Expectations that were not met; none is success. */
  readonly missed: readonly Miss[];
}

/** A scenario that was run. */
export interface Simulation {
  readonly result: Result;
  readonly run: Run;
  /** Draws the chart; not done before it is asked for. */
  readonly svg: () => string;
}

/** Runs a scenario in virtual time. The same scenario gives the same result on any machine. */
export function simulate(scenario: Scenario): Simulation {
  const { kind, title, expect } = scenario;
  const run = scenario.run();
  const { rows, stats, verdict } = run;
  const found = { kind, title, rows, ...(stats && { stats }), ...(verdict && { verdict }) };
  return {
    result: { ...found, missed: missedOf(expect, found) },
    run,
    svg: () => renderSvg(run.chart()),
  };
}

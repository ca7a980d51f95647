import { renderSvg } from "../chart/draw/svg.ts";
import type { SvgOptions } from "../chart/draw/svg.ts";
import { missedOf } from "./expect.ts";
import type { Miss } from "./expect.ts";
import type { Run, Row, Scenario } from "./kind.ts";

/** The result of a run: the object that `sluice simulate --json` prints. */
export interface Result {
  readonly kind: string;
  readonly title: string;
  readonly rows: readonly Row[];
  readonly stats?: object;
  readonly verdict?: Readonly<Record<string, unknown>>;
  /** Expectations that were not met; empty if the run came out as the file says. */
  readonly missed: readonly Miss[];
}

/** A scenario that was run. */
export interface Simulation {
  readonly result: Result;
  readonly run: Run;
  /** Draws the chart as an SVG document. */
  readonly svg: (options?: SvgOptions) => string;
}

/**
 * Runs a scenario in virtual time. The same scenario gives the same result on any machine.
 *
 * @example
 * const { result, svg } = await simulate(loadScenario(text, "burst.yaml"));
 * if (result.missed.length > 0) console.error(result.missed);
 * await writeFile("burst.svg", svg());
 */
export async function simulate(scenario: Scenario): Promise<Simulation> {
  const { kind, title, expect } = scenario;
  const run = await scenario.run();
  const { rows, stats, verdict } = run;
  const found = { kind, title, rows, ...(stats && { stats }), ...(verdict && { verdict }) };
  return {
    result: { ...found, missed: missedOf(expect, found) },
    run,
    svg: (options) => renderSvg(run.chart(), options),
  };
}

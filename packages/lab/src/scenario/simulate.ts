import { renderSvg } from "../chart/draw/svg.ts";
import type { SvgOptions } from "../chart/draw/svg.ts";
import type { Run, Scenario } from "./kind.ts";
import { runScenario } from "./run-scenario.ts";
import type { Result } from "./run-scenario.ts";

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
  const { result, run } = await runScenario(scenario);
  return { result, run, svg: (options) => renderSvg(run.chart(), options) };
}

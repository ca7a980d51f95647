import { missedOf } from "./expect.ts";
import type { Miss } from "./expect.ts";
import type { Row, Run, Scenario } from "./kind.ts";

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

/**
 * Runs a scenario in virtual time. The same scenario gives the same result on any machine.
 *
 * @example
 * const { result, run } = await runScenario(await loadScenario(text, "burst.yaml"));
 */
export async function runScenario(
  scenario: Scenario,
): Promise<{ readonly result: Result; readonly run: Run }> {
  const { kind, title, expect } = scenario;
  const run = await scenario.run();
  const { rows, stats, verdict } = run;
  const found = { kind, title, rows, ...(stats && { stats }), ...(verdict && { verdict }) };
  return { result: { ...found, missed: missedOf(expect, found) }, run };
}

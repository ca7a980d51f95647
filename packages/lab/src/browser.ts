/** `@sluice/lab/browser`: scenarios in a web page or a web worker. No module of Node.js, no YAML package. */
import { browserKind, BROWSER_KINDS } from "./kind/browser-kinds.ts";
import { kindNameOf, scenarioOf } from "./scenario/scenario-of.ts";
import type { Scenario } from "./scenario/kind.ts";
import { readYaml } from "./yaml/read-yaml.ts";

export { runScenario } from "./scenario/run-scenario.ts";
export type { Result } from "./scenario/run-scenario.ts";
export type { Column, Row, Run, Scenario } from "./scenario/kind.ts";
export type { Expectations, Known, Miss } from "./scenario/expect.ts";
export type { Axis, Chart, Marker, Panel, Point, Series } from "./chart/chart.ts";
export { readYaml } from "./yaml/read-yaml.ts";
export { writeYaml } from "./yaml/write-yaml.ts";
export type { FileDocument } from "./file/document.ts";
export type { Path } from "./file/path.ts";

/**
 * Checks the text of a scenario and returns it ready to run with `runScenario`. As `loadScenario` of `@sluice/lab`, but
 * for the kinds ramp, busy, overload, concurrency, publish and pool, and for the YAML that `readYaml` knows. The code
 * of a kind is loaded with the first scenario of that kind.
 *
 * @throws ConfigError with one line: file, line, what was found and what is expected
 */
export async function loadScenario(text: string, file: string): Promise<Scenario> {
  const document = readYaml(text, file);
  const name = kindNameOf(document.value);
  const kind = name === undefined ? undefined : await browserKind(name);
  return scenarioOf(document, file, {
    names: BROWSER_KINDS,
    get: (wanted) => (wanted === name ? kind : undefined),
  });
}

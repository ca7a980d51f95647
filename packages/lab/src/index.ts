// Scenario files: text in, a checked scenario out, run in virtual time.
export { loadScenario } from "./scenario/load.ts";
export { simulate } from "./scenario/simulate.ts";
export type { Result, Simulation } from "./scenario/simulate.ts";
export type { Column, Run, Row, Scenario } from "./scenario/kind.ts";
export type { Expectations, Miss } from "./scenario/expect.ts";

// What people see of a run.
export { reportLines } from "./report/report.ts";
export { renderSvg } from "./chart/svg.ts";
export type { Axis, Chart, Panel, Series } from "./chart/chart.ts";

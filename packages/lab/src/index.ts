// Scenario files: checked, then run in virtual time.
export { loadScenario } from "./scenario/load.ts";
export { simulate } from "./scenario/simulate.ts";
export type { Simulation } from "./scenario/simulate.ts";
export type { Result } from "./scenario/run-scenario.ts";
export type { Column, Run, Row, Scenario } from "./scenario/kind.ts";
export type { Expectations, Known, Miss } from "./scenario/expect.ts";

// Reports and charts of a run.
export { reportLines } from "./report/report.ts";
export { renderSvg } from "./chart/draw/svg.ts";
export type { SvgOptions } from "./chart/draw/svg.ts";
export type { Axis, Chart, Marker, Panel, Point, Series } from "./chart/chart.ts";

import { loadScenario, runScenario, writeYaml } from "@sluice/lab/browser";

const text = writeYaml({ kind: "ramp", rateLimit: { max: 100, min: 10 }, offered: [50, 50, 50] });
const { result, run } = await runScenario(await loadScenario(text, "ramp.yaml"));
console.log(result.rows, run.chart().series.length);

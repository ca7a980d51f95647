import { ConfigError } from "@sluice/core";
import { systemClock } from "@sluice/core/system";
import { loadScenario, runScenario } from "@sluice/lab/browser";
import type { RunAnswer, RunRequest, RunResult } from "./messages.ts";

/** Rows that are sent to the page: more have no place in a chart, and copying them takes longer than the run. */
const ROWS_MAX = 20_000;

addEventListener("message", (event: MessageEvent<RunRequest>) => {
  void answer(event.data);
});

async function answer({ id, text }: RunRequest): Promise<void> {
  postMessage(await answerOf(id, text), { transfer: [] });
}

async function answerOf(id: number, text: string): Promise<RunAnswer> {
  try {
    return { id, result: await run(text) };
  } catch (error) {
    if (!(error instanceof ConfigError)) return { id, problem: { message: String(error) } };
    const line = error.source?.line;
    // The page shows the line beside the message.
    return { id, problem: { message: error.message.replace(/^scenario:\d+: /, ""), line } };
  }
}

async function run(text: string): Promise<RunResult> {
  const fromMs = systemClock.now();
  const { result, run: done } = await runScenario(await loadScenario(text, "scenario"));
  const rows = result.rows.slice(0, ROWS_MAX) as RunResult["outcome"]["rows"];
  const outcome = { rows, stats: result.stats };
  return {
    chart: done.chart(),
    outcome,
    missed: result.missed,
    tookMs: systemClock.now() - fromMs,
  };
}

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "@sluice/core/system";
import { machineLine, thisMachine } from "../machine.ts";
import { short, spreadText } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { spreadOf } from "../spread.ts";
import { table } from "../table.ts";

const SLUICE = fileURLToPath(new URL("../../../packages/sluice/bin/sluice.js", import.meta.url));

/** Of the whole command, from starting Node to the last line printed. */
const GOAL_SECONDS = 5;

/** Four steps a round, three of which print a row. */
const MILLION_STEPS = `kind: bucket
bucket: { rate: 7, capacity: 1000, initialTokens: 0 }
steps:
  - repeat: 250000
    steps:
      - { advanceMs: 17.3 }
      - { op: chargeAndCheck, n: 1 }
      - { op: tokens }
      - { op: pauseMs }
`;

const FORMS = {
  table: [],
  JSON: ["--json"],
  "JSON and chart": ["--json", "--svg", "chart.svg"],
} as const;

/** How long `sluice simulate` takes for a million steps; the text to print. */
export function benchScenario({ rounds, json }: BenchOptions): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  writeFileSync(join(folder, "million.yaml"), MILLION_STEPS);
  const seconds = Object.entries(FORMS).map(([form, options]) => {
    const runs = Array.from({ length: rounds }, () => secondsOf(folder, options));
    const measured = spreadOf(runs);
    return { form, measured, met: measured.median < GOAL_SECONDS };
  });
  rmSync(folder, { recursive: true });
  const machine = thisMachine();
  if (json) return Promise.resolve(JSON.stringify({ bench: "scenario", machine, rounds, seconds }));
  const rows = seconds.map(({ form, measured, met }) => [
    form,
    spreadText(measured, short),
    `< ${GOAL_SECONDS}`,
    met ? "met" : "missed",
  ]);
  const heading = ["a million steps, as", "wall seconds", "goal", ""];
  return Promise.resolve(`${machineLine(machine)}\n\n${table(heading, rows)}`);
}

function secondsOf(folder: string, options: readonly string[]): number {
  const startedAtMs = systemClock.now();
  const { status, stdout } = spawnSync(
    process.execPath,
    [SLUICE, "simulate", "million.yaml", ...options],
    { cwd: folder, maxBuffer: 2 ** 28 },
  );
  if (status !== 0 || stdout.length < 1e7) throw new Error("a run did not print its rows");
  return (systemClock.now() - startedAtMs) / 1000;
}

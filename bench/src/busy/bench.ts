import { SeededRandom } from "@sluice/core";
import { runOverload } from "@sluice/lab/sim";
import type { OverloadSecond } from "@sluice/lab/sim";
import { machineLine, thisMachine } from "../machine.ts";
import { short } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { table } from "../table.ts";
import { OURS, RULES } from "./rules.ts";
import { TickService } from "./tick-service.ts";

const OFFERED = 5000;
const RESPONSE_MS = 50;
const CAPACITY = [
  { fromS: 0, perSecond: 10_000 },
  { fromS: 60, perSecond: 2000 },
  { fromS: 260, perSecond: 10_000 },
];
const BUSY = { fromS: 110, untilS: 260, perSecond: 2000 };
const DURATION_S = 360;
/** So much of what is offered, to the end, is recovery. */
const BACK = 4950;

const GOALS = { goodput: 0.97, busyShare: 0.01, backAfterS: 5 };

interface Outcome {
  readonly rule: string;
  /** Of what the service takes while it is small, the last 150 of 200 seconds. */
  readonly goodput: number;
  readonly busyPerSecond: number;
  /** Of what was sent then. */
  readonly busyShare: number;
  /** In the first ten seconds of the small capacity. */
  readonly goodputAtOnset: number;
  readonly backAfterS: number | null;
}

/** How well throttles use a service that is suddenly small; the text to print. */
export function benchBusy({ json }: BenchOptions): Promise<string> {
  const outcomes = [...RULES.keys()].map(outcomeOf);
  const ours = outcomes.find(({ rule }) => rule === OURS);
  const met =
    ours !== undefined &&
    ours.goodput >= GOALS.goodput &&
    ours.busyShare <= GOALS.busyShare &&
    ours.backAfterS !== null &&
    ours.backAfterS <= GOALS.backAfterS;
  const machine = thisMachine();
  if (json) return Promise.resolve(JSON.stringify({ bench: "busy", machine, outcomes, met }));
  const heading = ["rule", "goodput of 2000", "first 10 s", "busy/s", "of sent", "s back to 4950"];
  const rows = outcomes.map((outcome) => [
    outcome.rule,
    percent(outcome.goodput),
    percent(outcome.goodputAtOnset),
    short(outcome.busyPerSecond),
    percent(outcome.busyShare),
    outcome.backAfterS === null ? "never" : String(outcome.backAfterS),
  ]);
  const goals = `goals: ≥ 97 %, ≤ 1 % of sent busy, ≤ 5 s: ${met ? "met" : "missed"}`;
  return Promise.resolve(`${machineLine(machine)}\n\n${table(heading, rows)}\n\n${goals}`);
}

function outcomeOf(rule: string): Outcome {
  const throttle = RULES.get(rule);
  if (throttle === undefined) throw new Error(`no rule is named ${rule}`);
  const seconds = runOverload(
    {
      clients: [{ offeredPerSecond: OFFERED }],
      throttle,
      service: new TickService(),
      capacity: CAPACITY,
      responseMs: () => RESPONSE_MS,
      durationS: DURATION_S,
    },
    new SeededRandom(1),
  );
  const settled = seconds.slice(BUSY.fromS, BUSY.untilS);
  const onset = seconds.slice(60, 70);
  const busy = total(settled, "busy");
  const after = seconds.slice(BUSY.untilS);
  const backAfterS = after.findLastIndex(({ ok }) => ok < BACK) + 1;
  return {
    rule,
    goodput: total(settled, "ok") / (settled.length * BUSY.perSecond),
    busyPerSecond: busy / settled.length,
    busyShare: busy / total(settled, "sent"),
    goodputAtOnset: total(onset, "ok") / (onset.length * BUSY.perSecond),
    backAfterS: backAfterS === after.length ? null : backAfterS,
  };
}

function total(seconds: readonly OverloadSecond[], key: "ok" | "busy" | "sent"): number {
  return seconds.reduce((sum, second) => sum + second[key], 0);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

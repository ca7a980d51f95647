import { machineLine, thisMachine } from "../machine.ts";
import type { BenchOptions } from "../options.ts";
import { table } from "../table.ts";
import { ADAPTIVE, adaptive, fixed } from "./clients.ts";
import { PHASES } from "./phases.ts";
import type { Phase } from "./phases.ts";
import { runClient } from "./run.ts";
import type { Outcome } from "./run.ts";

/** Fixed settings so near to the best count as equal, and the one with the lowest p99 is taken. */
const TIE = 0.03;

/** Of what the best fixed setting is served: at least. */
const GOODPUT_GOAL = 0.9;

interface Comparison {
  readonly phase: string;
  readonly what: string;
  /** Left out at the beginning, and measured after that. */
  readonly warmUpMs: number;
  readonly measuredMs: number;
  readonly outcomes: readonly Outcome[];
  /** The fixed setting that ours is measured against. */
  readonly best: string;
  readonly goodputRatio: number;
  readonly p99Ratio: number;
}

/** How an adaptive client does over real sockets, beside fixed settings; the text to print. */
export async function benchLoopback({ json, quick }: BenchOptions): Promise<string> {
  const phases: Comparison[] = [];
  for (const phase of PHASES) phases.push(await compare(quick ? shortened(phase) : phase));
  const machine = thisMachine();
  if (json) return JSON.stringify({ bench: "loopback", machine, phases });
  return [machineLine(machine), ...phases.map(phaseText), summary(phases)].join("\n\n");
}

/** Without most of the sweep. */
function shortened(phase: Phase): Phase {
  return { ...phase, fixed: phase.fixed.filter((concurrency) => concurrency === 8) };
}

async function compare(phase: Phase): Promise<Comparison> {
  console.error(`${phase.name}: ${phase.what}`);
  const outcomes: Outcome[] = [];
  for (const concurrency of phase.fixed) outcomes.push(await runClient(phase, fixed(concurrency)));
  const best = bestOf(outcomes);
  const ours = await runClient(phase, adaptive);
  return {
    phase: phase.name,
    what: phase.what,
    warmUpMs: phase.warmUpMs,
    measuredMs: phase.durationMs - phase.warmUpMs,
    outcomes: [...outcomes, ours],
    best: best.client,
    goodputRatio: ours.servedPerSecond / best.servedPerSecond,
    p99Ratio: ours.p99Ms / best.p99Ms,
  };
}

function bestOf(outcomes: readonly Outcome[]): Outcome {
  const most = Math.max(...outcomes.map(({ servedPerSecond }) => servedPerSecond));
  const [best] = outcomes
    .filter(({ servedPerSecond }) => servedPerSecond >= (1 - TIE) * most)
    .toSorted((a, b) => a.p99Ms - b.p99Ms);
  if (best === undefined) throw new Error("no fixed setting was measured");
  return best;
}

function phaseText({ phase, what, warmUpMs, measuredMs, outcomes }: Comparison): string {
  const heading = ["", "served/s", "p99 ms", "busy", "failed", "sent/served", "early", "most"];
  const hasOutage = outcomes.some(({ firstAfterMs }) => firstAfterMs !== undefined);
  const rows = outcomes.map((outcome) => [
    outcome.client,
    outcome.servedPerSecond.toFixed(0),
    outcome.p99Ms.toFixed(0),
    String(outcome.busy),
    String(outcome.failed),
    outcome.attemptsPerServed.toFixed(2),
    String(outcome.early),
    String(outcome.most),
    ...(hasOutage ? [msText(outcome.firstAfterMs), msText(outcome.backAfterMs)] : []),
  ]);
  const all = hasOutage ? [...heading, "first ms", "back ms"] : heading;
  const when = `${measuredMs / 1000} s after the first ${warmUpMs / 1000} s`;
  return `${phase}: ${what}; ${when}\n${table(all, rows)}`;
}

function summary(phases: readonly Comparison[]): string {
  const heading = [
    "adaptive ÷ best fixed",
    "which is",
    "goodput",
    "p99",
    "sent/served",
    "goal",
    "",
  ];
  const rows = phases.map(({ phase, best, goodputRatio, p99Ratio, outcomes }) => [
    phase,
    best,
    goodputRatio.toFixed(2),
    p99Ratio.toFixed(2),
    `${sentText(outcomes, ADAPTIVE)} ÷ ${sentText(outcomes, best)}`,
    `goodput ≥ ${GOODPUT_GOAL}`,
    goodputRatio >= GOODPUT_GOAL ? "met" : "missed",
  ]);
  return table(heading, rows);
}

function sentText(outcomes: readonly Outcome[], name: string): string {
  return outcomes.find(({ client }) => client === name)?.attemptsPerServed.toFixed(2) ?? "";
}

function msText(ms: number | undefined): string {
  return ms === undefined ? "never" : ms.toFixed(0);
}

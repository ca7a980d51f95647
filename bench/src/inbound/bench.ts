import { machineLine, thisMachine } from "../machine.ts";
import { short } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { blocksOf, intervalText, judged, medianInterval, ratioInterval } from "../paired.ts";
import { runCases } from "../run-cases.ts";
import { table } from "../table.ts";
import { runShared } from "./shared.ts";
import type { SharedFigures } from "./shared.ts";

/** CPU time that our limiter adds to a request ÷ what the peer's adds: at most. */
const COST_GOALS: Readonly<Record<string, { readonly name: string; readonly most: number }>> = {
  fastify: { name: "limitFastify ÷ @fastify/rate-limit", most: 1 },
  express: { name: "limitHttp ÷ express-rate-limit", most: 0.4 },
};

const EXACT_MIN = 0.99;
const CALLS_MAX = 1;
const HOT_CALLS_MAX = 0.05;

/** CPU time of a request, by block of all rounds; what limiters add is paired within a block. */
interface CostRow {
  readonly framework: string;
  readonly bareUs: readonly number[];
  readonly oursUs: readonly number[];
  readonly peerUs: readonly number[];
}

/** What an inbound limiter adds to a request, and how exact shared quotas are; the text to print. */
export async function benchInbound({ rounds, quick, json }: BenchOptions): Promise<string> {
  const costs = await measureCosts(rounds, quick);
  const shared = await runShared(quick ? 2000 : 5000);
  const machine = thisMachine();
  if (json) return JSON.stringify({ bench: "inbound", machine, rounds, costs, shared });
  return `${machineLine(machine)}\n\n${costTable(costs)}\n\n${sharedTable(shared)}`;
}

async function measureCosts(rounds: number, quick: boolean): Promise<CostRow[]> {
  const child = new URL("cost-child.js", import.meta.url);
  const cases = Object.keys(COST_GOALS).map((id) => ({ id, nodeFlags: [] }));
  const args = quick ? ["8", "60"] : ["15", "80"];
  const figures = await runCases(child, cases, { rounds, args });
  return [...figures].map(([framework, all]) => {
    const bareUs = blocksOf("bare", all);
    const added = (name: string): number[] =>
      blocksOf(name, all).map((us, block) => us - (bareUs[block] ?? 0));
    return { framework, bareUs, oursUs: added("ours"), peerUs: added("peer") };
  });
}

function costTable(rows: readonly CostRow[]): string {
  const heading = [
    "added CPU per request (95 %)",
    "bare, µs",
    "ours adds",
    "peer adds",
    "ratio",
    "goal",
    "",
  ];
  return table(
    heading,
    rows.map(({ framework, bareUs, oursUs, peerUs }) => {
      const { name = "", most = 0 } = COST_GOALS[framework] ?? {};
      const ratio = ratioInterval(oursUs, peerUs);
      return [
        name,
        intervalText(medianInterval(bareUs)),
        intervalText(medianInterval(oursUs)),
        intervalText(medianInterval(peerUs)),
        intervalText(ratio),
        `≤ ${short(most)}`,
        judged(ratio, most),
      ];
    }),
  );
}

function sharedTable(rows: readonly SharedFigures[]): string {
  const heading = [
    "four processes, one Redis",
    "requests",
    "admitted ÷ due",
    "at once",
    "calls per request",
    "store lost",
    "goal",
    "",
  ];
  return table(
    heading,
    rows.map(({ what, asked, exactness, callsPerRequest, atOnce, lost }) => {
      const callsMax = what.includes("hot") ? HOT_CALLS_MAX : CALLS_MAX;
      const isMet = exactness >= EXACT_MIN && exactness <= 1 && callsPerRequest <= callsMax;
      return [
        what,
        String(asked),
        exactness.toFixed(4),
        short(atOnce),
        callsPerRequest.toFixed(3),
        String(lost),
        `0.99 to 1, ≤ ${short(callsMax)}`,
        isMet ? "met" : "missed",
      ];
    }),
  );
}

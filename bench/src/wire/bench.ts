import { machineLine, thisMachine } from "../machine.ts";
import { perSecond, roundsText, short } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { runCases } from "../run-cases.ts";
import { spreadOf } from "../spread.ts";
import { table } from "../table.ts";
import { CASES } from "./cases.ts";

/** Frames of 1 KiB per CPU second of one core: at least. */
const GOALS: Readonly<Record<string, number>> = { "decode and route": 1e6, encode: 5e5 };

const CHILD = new URL("child.js", import.meta.url);
const OURS = "sluice";

/** What reading and writing a SEND costs, beside the libraries for it; the text to print. */
export async function benchWire({ rounds, quick, json }: BenchOptions): Promise<string> {
  const cases = Object.entries(CASES).flatMap(([question, codecs]) =>
    Object.keys(codecs).map((codec) => ({ id: `${question}/${codec}`, nodeFlags: [] })),
  );
  const args = quick ? ["50", "3"] : ["200", "10"];
  const figures = await runCases(CHILD, cases, { rounds, args });
  const rows = [...figures].map(([id, all]) => {
    const [question = "", codec = ""] = id.split("/");
    const ours = figures.get(`${question}/${OURS}`) ?? [];
    const framesPerSecond = all.map(({ loop = 0 }) => loop);
    const ratios = framesPerSecond.map((value, round) => (ours[round]?.["loop"] ?? 0) / value);
    return { question, codec, framesPerSecond, ratios };
  });
  const machine = thisMachine();
  if (json) return JSON.stringify({ bench: "wire", machine, rounds, rows });
  const lines = rows.map(({ question, codec, framesPerSecond, ratios }) => {
    const goal = codec === OURS ? (GOALS[question] ?? 0) : undefined;
    const isMet = goal !== undefined && spreadOf(framesPerSecond).median >= goal;
    return [
      question,
      codec,
      roundsText(framesPerSecond, perSecond),
      goal === undefined ? roundsText(ratios, short) : "",
      goal === undefined ? "" : `≥ ${perSecond(goal)}`,
      goal === undefined ? "" : isMet ? "met" : "missed",
    ];
  });
  const heading = ["", "", "frames per CPU second", "ours ÷ theirs", "goal", ""];
  return `${machineLine(machine)}\n\n${table(heading, lines)}`;
}

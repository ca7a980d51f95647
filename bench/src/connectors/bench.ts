import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { machineLine, thisMachine } from "../machine.ts";
import { short } from "../numbers.ts";
import type { BenchOptions } from "../options.ts";
import { table } from "../table.ts";
import type { Carried } from "./carry.ts";
import { PLACES } from "./places.ts";

const COUNT = 10_000_000;
const QUICK_COUNT = 50_000;
/** The heap may grow by a tenth while messages pass. */
const GROWTH_GOAL = 1.1;

const CHILD = fileURLToPath(new URL("child.js", import.meta.url));

/** The names in a text, separated by commas; without a text, all. */
function namesFrom(text: string | undefined): readonly string[] {
  const all = Object.keys(PLACES);
  return text === undefined ? all : all.filter((name) => text.split(",").includes(name));
}

/** Whether the heap stays flat while messages go through each connector; the text to print. */
export async function benchConnectors({ quick, json }: BenchOptions): Promise<string> {
  const count = quick ? QUICK_COUNT : COUNT;
  const found = new Map<string, Carried | string>();
  for (const name of namesFrom(process.env["BENCH_CONNECTORS"])) {
    const args = [CHILD, name, String(count)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    found.set(name, JSON.parse(stdout) as Carried | string);
  }
  const machine = thisMachine();
  if (json) {
    const cases = Object.fromEntries(found);
    return JSON.stringify({ bench: "connectors", machine, count, cases });
  }
  const rows = [...found].map(([name, carried]) =>
    typeof carried === "string"
      ? [name, carried, "", "", "", "", "", ""]
      : [
          name,
          String(carried.count),
          `${short(carried.perSecond / 1000)} k`,
          `${short(carried.perCpuSecond / 1000)} k`,
          `${carried.heapMb.toFixed(1)} MB`,
          short(carried.growth),
          carried.growth <= GROWTH_GOAL ? "met" : "missed",
          `${carried.externalMb.toFixed(1)} MB`,
        ],
  );
  const heading = [
    `${count} messages`,
    "came",
    "a second",
    "of CPU",
    "heap",
    `growth, ≤ ${GROWTH_GOAL}`,
    "",
    "buffers",
  ];
  return `${machineLine(machine)}\n\n${table(heading, rows)}`;
}

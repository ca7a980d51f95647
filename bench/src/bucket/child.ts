/** Measures one case and prints its figures: `child.js <section>/<name> <ms> <n>`. */
import { measure } from "../measure.ts";
import type { Slices } from "../measure.ts";
import type { Figures } from "../run-cases.ts";
import { bytesPerCall } from "./allocation.ts";
import { ALLOCATION, MANY_KEYS, MEMORY, ONE_KEY } from "./cases.ts";
import { KEYS, KeyWalk } from "./key-walk.ts";
import { loopOver } from "./many-keys.ts";
import { bytesPerKey } from "./memory.ts";
import { bareClock, bareCounter, bareMap } from "./yardsticks.ts";

/** Over all keys, so that every one is there and neither side pays for the first visit. */
const PASSES_BEFORE = 3;

/** Calls per measurement. Enough that a few kilobytes of other work do not count: a byte in a hundred calls shows. */
const CALLS = 10_000_000;

const [id = "", sliceMs, slices] = process.argv.slice(2);
const figures = await figuresOf(id, { sliceMs: Number(sliceMs), slices: Number(slices) });
process.stdout.write(JSON.stringify(figures), () => {
  // Peers leave a timer for each key.
  process.exit(0);
});

async function figuresOf(caseId: string, sizes: Slices): Promise<Figures> {
  const [section, name = ""] = caseId.split("/");
  if (section === "one-key") return oneKey(name, sizes);
  if (section === "many-keys") return manyKeys(name, sizes);
  if (section === "memory") return { bytes: await bytesPerKey(existing(MEMORY, name).make()) };
  if (section === "allocation") return allocation(name);
  throw new Error(`no such case: ${caseId}`);
}

async function oneKey(name: string, sizes: Slices): Promise<Figures> {
  const loop = existing(ONE_KEY, name).make();
  return measure({ case: loop, counter: bareCounter(), clock: bareClock() }, sizes);
}

async function manyKeys(name: string, sizes: Slices): Promise<Figures> {
  const walk = new KeyWalk();
  const loop = loopOver(walk, existing(MANY_KEYS, name).make());
  const map = bareMap(walk);
  for (let pass = 0; pass < PASSES_BEFORE; pass++) {
    await loop(KEYS);
    await map(KEYS);
  }
  return measure({ case: loop, map, counter: bareCounter(), clock: bareClock() }, sizes);
}

async function allocation(name: string): Promise<Figures> {
  const { make, clockReadingsPerCall } = existing(ALLOCATION, name);
  const total = await bytesPerCall(make(), CALLS);
  const clock = (await bytesPerCall(bareClock(), CALLS / 5)) * clockReadingsPerCall;
  return { total, clock, own: total - clock };
}

function existing<Value>(cases: Readonly<Record<string, Value>>, name: string): Value {
  const found = cases[name];
  if (found === undefined) throw new Error(`no such case: ${name}`);
  return found;
}

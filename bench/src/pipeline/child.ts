/** Measures one map with and without limits beside the bare loop: `child.js <case> <ms> <n>`. */
import { measure } from "../measure.ts";
import { bareLoop, CASES, loopOf } from "./cases.ts";

const [id = "", sliceMs, slices] = process.argv.slice(2);
const found = CASES[id];
if (found === undefined) throw new Error(`no such case: ${id}`);
const { addMap } = found;
const figures = await measure(
  { plain: loopOf(addMap, false), limited: loopOf(addMap, true), bare: bareLoop },
  { sliceMs: Number(sliceMs), slices: Number(slices) },
);
process.stdout.write(JSON.stringify(figures), () => {
  process.exit(0);
});

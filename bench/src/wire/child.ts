/** Measures one question for one codec: `child.js <question>/<codec> <ms> <n>`. */
import { measure } from "../measure.ts";
import { CASES } from "./cases.ts";

const [id = "", sliceMs, slices] = process.argv.slice(2);
const [question = "", codec = ""] = id.split("/");
const loop = CASES[question]?.[codec];
if (loop === undefined) throw new Error(`no such case: ${id}`);
const figures = await measure({ loop }, { sliceMs: Number(sliceMs), slices: Number(slices) });
process.stdout.write(JSON.stringify(figures));

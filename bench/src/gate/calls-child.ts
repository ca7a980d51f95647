/** Measures one gate beside p-limit: `calls-child.js <question>/<gate> <ms> <n>`. */
import { measure } from "../measure.ts";
import { QUESTIONS, throughGate, throughPLimit } from "./calls.ts";

const [id = "", sliceMs, slices] = process.argv.slice(2);
const [question = "", name = ""] = id.split("/");
const loopOf = QUESTIONS[question];
if (loopOf === undefined) throw new Error(`no such question: ${question}`);
const figures = await measure(
  { gate: loopOf(throughGate(name)), peer: loopOf(throughPLimit()) },
  { sliceMs: Number(sliceMs), slices: Number(slices) },
);
process.stdout.write(JSON.stringify(figures), () => {
  process.exit(0);
});

/** Measures one gate beside p-limit: `calls-child.js <question>/<gate> <ms of a slice> <blocks>`. */
import { figuresOf, measurePaired } from "../paired.ts";
import { QUESTIONS, throughGate, throughPLimit } from "./calls.ts";

/** Whole batches of calls. */
const WARM_UP = 50_000;

const [id = "", sliceMs, blocks] = process.argv.slice(2);
const [question = "", name = ""] = id.split("/");
const loopOf = QUESTIONS[question];
if (loopOf === undefined) throw new Error(`no such question: ${question}`);
const timesUs = await measurePaired(
  { gate: loopOf(throughGate(name)), peer: loopOf(throughPLimit()) },
  { sliceMs: Number(sliceMs), blocks: Number(blocks), warmUp: WARM_UP },
);
process.stdout.write(JSON.stringify(figuresOf(timesUs)), () => {
  process.exit(0);
});

/** Measures one framework's servers in turns: `cost-child.js <framework> <ms of a slice> <blocks>`. */
import { figuresOf, measurePaired } from "../paired.ts";
import { createMemoryClient } from "./memory-client.ts";
import { SERVERS } from "./servers.ts";

const [framework = "", sliceMs, blocks] = process.argv.slice(2);
const starts = SERVERS[framework];
if (starts === undefined) throw new Error(`no such framework: ${framework}`);

const timesUs = await measurePaired(
  {
    bare: createMemoryClient(await starts.bare()),
    ours: createMemoryClient(await starts.ours()),
    peer: createMemoryClient(await starts.peer()),
  },
  { sliceMs: Number(sliceMs), blocks: Number(blocks) },
);
process.stdout.write(JSON.stringify(figuresOf(timesUs)), () => {
  process.exit(0);
});

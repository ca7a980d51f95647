/** Measures one framework's servers in turns: `cost-child.js <framework> <ms of a slice> <blocks>`. */
import { measurePaired } from "../paired.ts";
import { createMemoryClient } from "./memory-client.ts";
import { SERVERS } from "./servers.ts";

const [framework = "", sliceMs, blocks] = process.argv.slice(2);
const starts = SERVERS[framework];
if (starts === undefined) throw new Error(`no such framework: ${framework}`);

const { bare, ours, peer } = await measurePaired(
  {
    bare: createMemoryClient(await starts.bare()),
    ours: createMemoryClient(await starts.ours()),
    peer: createMemoryClient(await starts.peer()),
  },
  { sliceMs: Number(sliceMs), blocks: Number(blocks) },
);
const figures = Object.fromEntries(
  bare.flatMap((bareUs, block) => [
    [`bare ${block}`, bareUs],
    [`ours ${block}`, (ours[block] ?? 0) - bareUs],
    [`peer ${block}`, (peer[block] ?? 0) - bareUs],
  ]),
);
process.stdout.write(JSON.stringify(figures), () => {
  process.exit(0);
});

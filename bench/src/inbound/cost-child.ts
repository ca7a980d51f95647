/** Measures one framework's servers in turns: `cost-child.js <framework> <ms> <n>`. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { measure } from "../measure.ts";
import type { Loop } from "../measure.ts";
import type { LoadOrder } from "./load-child.ts";
import { SERVERS } from "./servers.ts";

const [framework = "", sliceMs, slices] = process.argv.slice(2);
const starts = SERVERS[framework];
if (starts === undefined) throw new Error(`no such framework: ${framework}`);
const load = fork(fileURLToPath(new URL("load-child.js", import.meta.url)), { execArgv: [] });

function requestsTo(port: number): Loop {
  return async (count) => {
    load.send({ port, count } satisfies LoadOrder);
    const [served] = (await once(load, "message")) as [number];
    return served;
  };
}

const perSecond = await measure(
  {
    bare: requestsTo(await starts.bare()),
    ours: requestsTo(await starts.ours()),
    peer: requestsTo(await starts.peer()),
  },
  { sliceMs: Number(sliceMs), slices: Number(slices) },
);
const cost = (name: keyof typeof perSecond): number => 1e6 / perSecond[name];
process.stdout.write(
  JSON.stringify({ bareUs: cost("bare"), oursUs: cost("ours"), peerUs: cost("peer") }),
  () => {
    process.exit(0);
  },
);

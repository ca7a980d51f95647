/** One client and its service in a process of their own: `child.js <client> <burst in s> <calls>`. */
import { CLIENTS } from "./clients.ts";
import { startService } from "./service.ts";
import { makeCalls } from "./workload.ts";

/** What became of the calls of one client. */
export interface ClientFigures {
  readonly served: number;
  /** Answers of 429. */
  readonly refused: number;
  readonly lastMs: number;
}

/** Calls before the time begins, to a service that limits nothing: code is compiled, connections are made. */
const WARM_UP_CALLS = 20;
const NO_LIMIT_SECONDS = 1_000_000;

const [name = "", burstSeconds = "", count = ""] = process.argv.slice(2);
const client = CLIENTS.find((one) => one.name === name);
if (client === undefined) throw new Error(`no such client: ${name}`);
const { start } = client;

await run(NO_LIMIT_SECONDS, WARM_UP_CALLS);
process.stdout.write(JSON.stringify(await run(Number(burstSeconds), Number(count))), () => {
  process.exit(0);
});

async function run(burst: number, callCount: number): Promise<ClientFigures> {
  const calls = makeCalls().slice(0, callCount);
  const service = await startService(burst);
  const send = start(service.baseURL, burst);
  const startMs = performance.now();
  let served = 0;
  await Promise.all(
    calls.map((call) =>
      send(call).then(
        () => served++,
        () => undefined,
      ),
    ),
  );
  const lastMs = performance.now() - startMs;
  await service.close();
  return { served, refused: service.counts.refused, lastMs };
}

import { machineLine, thisMachine } from "../machine.ts";
import type { BenchOptions } from "../options.ts";
import { table } from "../table.ts";
import { CLIENTS } from "./clients.ts";
import type { Client } from "./clients.ts";
import { startService } from "./service.ts";
import { idealMs, makeCalls } from "./workload.ts";

/** Seconds of its limits that the service lets pass at once, and the time in which ours has to be done. */
const VARIANTS = [
  { burstSeconds: 2, goal: 1.03 },
  { burstSeconds: 0.5, goal: 1.08 },
];

interface Outcome {
  readonly client: string;
  readonly served: number;
  readonly refused: number;
  readonly lastMs: number;
  readonly ratio: number;
}

/** Clients of a service that limits requests and tokens, as APIs for language models do; the text to print. */
export async function benchLlm({ json, quick }: BenchOptions): Promise<string> {
  const calls = makeCalls().slice(0, quick ? 60 : undefined);
  const variants = [];
  for (const { burstSeconds, goal } of VARIANTS) {
    const ideal = idealMs(calls, burstSeconds);
    console.error(`burst of ${burstSeconds} s: ideally ${(ideal / 1000).toFixed(1)} s`);
    // All at once, each with a service of its own: they mostly wait.
    const outcomes = await Promise.all(
      CLIENTS.map((client) => run(client, calls, burstSeconds, ideal)),
    );
    variants.push({ burstSeconds, goal, idealMs: ideal, calls: calls.length, outcomes });
  }
  const machine = thisMachine();
  if (json) return JSON.stringify({ bench: "llm", machine, variants });
  return [machineLine(machine), ...variants.map(variantText)].join("\n\n");
}

async function run(
  client: Client,
  calls: ReturnType<typeof makeCalls>,
  burstSeconds: number,
  ideal: number,
): Promise<Outcome> {
  const service = await startService(burstSeconds);
  const send = client.start(service.baseURL, burstSeconds);
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
  return {
    client: client.name,
    served,
    refused: service.counts.refused,
    lastMs,
    ratio: lastMs / ideal,
  };
}

function variantText({
  burstSeconds,
  goal,
  idealMs: ideal,
  calls,
  outcomes,
}: {
  readonly burstSeconds: number;
  readonly goal: number;
  readonly idealMs: number;
  readonly calls: number;
  readonly outcomes: readonly Outcome[];
}): string {
  const rows = outcomes.map(({ client, served, refused, lastMs, ratio }) => [
    client,
    String(served),
    String(refused),
    (lastMs / 1000).toFixed(1),
    ratio.toFixed(2),
  ]);
  const title = `burst of ${burstSeconds} s: ${calls} calls, ideally ${(ideal / 1000).toFixed(1)} s; goal: all served, at most ${goal} × ideal, at most 1 % of 429`;
  return `${title}\n${table(["", "served", "429", "s", "× ideal"], rows)}`;
}

import { benchBroker } from "./broker/bench.ts";
import { benchBucket } from "./bucket/bench.ts";
import { benchBusy } from "./busy/bench.ts";
import { benchChurn } from "./churn/bench.ts";
import { benchConcurrency } from "./concurrency/bench.ts";
import { benchConnectors } from "./connectors/bench.ts";
import { benchFleet } from "./fleet/bench.ts";
import { benchGateway } from "./gateway/bench.ts";
import { benchGate } from "./gate/bench.ts";
import { benchInbound } from "./inbound/bench.ts";
import { benchIsolation } from "./isolation/bench.ts";
import { benchLlm } from "./llm/bench.ts";
import { benchLoopback } from "./loopback/bench.ts";
import { benchPipeline } from "./pipeline/bench.ts";
import { benchPulsarHttp } from "./pulsar-http/bench.ts";
import { benchReplicas } from "./replicas/bench.ts";
import { benchScenario } from "./scenario/bench.ts";
import { benchThreads } from "./threads/bench.ts";
import { benchWire } from "./wire/bench.ts";
import { parseOptions } from "./options.ts";
import type { BenchOptions } from "./options.ts";

type Bench = (options: BenchOptions) => Promise<string>;

const BENCHES: ReadonlyMap<string, Bench> = new Map([
  ["broker", benchBroker],
  ["bucket", benchBucket],
  ["busy", benchBusy],
  ["churn", benchChurn],
  ["concurrency", benchConcurrency],
  ["connectors", benchConnectors],
  ["fleet", benchFleet],
  ["gate", benchGate],
  ["gateway", benchGateway],
  ["inbound", benchInbound],
  ["isolation", benchIsolation],
  ["llm", benchLlm],
  ["loopback", benchLoopback],
  ["pipeline", benchPipeline],
  ["pulsar-http", benchPulsarHttp],
  ["replicas", benchReplicas],
  ["scenario", benchScenario],
  ["threads", benchThreads],
  ["wire", benchWire],
]);

const WRONG_USAGE = 2;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: BenchOptions;
  let bench: Bench;
  try {
    options = parseOptions(args);
    bench = benchNamed(options.bench);
  } catch (error) {
    const names = [...BENCHES.keys()].join(" | ");
    const usage = `usage: npm run bench -- ${names} [--json] [--rounds 5] [--quick] [--shipped]`;
    console.error(`${(error as Error).message.split("\n", 1).join("")}; ${usage}`);
    return WRONG_USAGE;
  }
  console.log(await bench(options));
  return 0;
}

function benchNamed(name: string): Bench {
  const bench = BENCHES.get(name);
  if (bench === undefined) throw new Error(`no benchmark is named ${name}`);
  return bench;
}

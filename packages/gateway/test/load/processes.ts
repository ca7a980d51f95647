import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { ServerStats, StartBrokerOptions } from "../../src/index.ts";

/** What the process of a broker says of itself. */
interface BrokerReport {
  readonly rss: number;
  readonly stats: ServerStats;
  readonly topics: number;
  readonly faults: readonly string[];
  /** How many connections were closed for which reason. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** CPU time of turns of the event loop since it was last asked: a busy machine does not change it. */
interface LoopReport {
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly faults: readonly string[];
}

export interface BrokerProcess {
  readonly port: number;
  /** `collect`: after a garbage collection. */
  loop(): Promise<LoopReport>;
  report(options?: { readonly collect: boolean }): Promise<BrokerReport>;
}

/** A broker in a process of its own, until the test is over. */
export async function startBrokerProcess(
  options: Partial<StartBrokerOptions> = {},
): Promise<BrokerProcess> {
  const child = start("broker-process.mjs", [JSON.stringify(options)], ["--expose-gc"]);
  const { ready: port } = await nextMessage<{ readonly ready: number }>(child);
  return {
    port,
    loop: () => {
      const answer = nextMessage<LoopReport>(child);
      child.send({ ask: "loop" });
      return answer;
    },
    report: ({ collect } = { collect: false }) => {
      const answer = nextMessage<BrokerReport>(child);
      child.send({ collect });
      return answer;
    },
  };
}

/** Starts an attack; resolves once it is on its way, with how to end it. */
export async function attack(name: string, port: number, count: number): Promise<() => void> {
  const child = start("attacks.mjs", [name, `${port}`, `${count}`]);
  await nextMessage(child);
  return () => void child.kill();
}

function start(program: string, args: readonly string[], execArgv: string[] = []): ChildProcess {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = fork(path, args, { execArgv });
  onTestFinished(() => void child.kill());
  return child;
}

async function nextMessage<T>(child: ChildProcess): Promise<T> {
  const [message] = (await once(child, "message")) as [T];
  return message;
}

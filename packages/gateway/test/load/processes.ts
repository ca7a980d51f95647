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

interface Times {
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Turns of the event loop since it was last asked. Other processes of a busy machine lengthen `wall`. */
interface LoopReport {
  readonly cpu: Times;
  readonly wall: Times;
  readonly faults: readonly string[];
}

export interface BrokerProcess {
  readonly port: number;
  /** URL of the administration, if `admin` was asked for. */
  readonly admin: string | undefined;
  /** `collect`: after a garbage collection. */
  loop(): Promise<LoopReport>;
  report(options?: { readonly collect: boolean }): Promise<BrokerReport>;
}

/** A broker in a process of its own, until the test is over. */
export async function startBrokerProcess(
  options: Partial<StartBrokerOptions> & { readonly admin?: boolean } = {},
): Promise<BrokerProcess> {
  const child = start("broker-process.mjs", [JSON.stringify(options)], ["--expose-gc"]);
  const { ready: port, admin } = await nextMessage<{ ready: number; admin?: string }>(child);
  return {
    port,
    admin,
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

export interface Attack {
  /** How far it got before it was on its way. */
  readonly facts: Readonly<Record<string, number>>;
  stop(): void;
}

/** Starts an attack; resolves once it is on its way. */
export async function attack(name: string, port: number, count: number): Promise<Attack> {
  const child = start("attacks.mjs", [name, `${port}`, `${count}`]);
  const { facts } = await nextMessage<Pick<Attack, "facts">>(child);
  return { facts, stop: () => void child.kill() };
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

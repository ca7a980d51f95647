import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { ServerStats, StartBrokerOptions, StartGatewayOptions } from "../../src/index.ts";

/** What the process of a broker says of itself. */
interface BrokerReport {
  readonly rss: number;
  /** The most that `rss` ever was. */
  readonly peakRss: number;
  readonly stats: ServerStats;
  readonly topics: number;
  readonly faults: readonly string[];
  /** How many connections were closed or refused for which reason. */
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
  /** With SIGKILL: nothing is flushed and no peer is told. */
  kill(): Promise<void>;
  /** With SIGTERM: it drains. Answers its exit code. */
  terminate(): Promise<number | null>;
  /** With SIGSTOP: it stands still until `thaw`. */
  freeze(): void;
  thaw(): void;
}

/** A broker in a process of its own, until the test, or whatever `onEnd` waits for, is over. */
export function startBrokerProcess(
  options: Partial<StartBrokerOptions> & { readonly admin?: boolean } = {},
  onEnd: OnEnd = onTestFinished,
): Promise<BrokerProcess> {
  return startProcess(options, onEnd);
}

/** A gateway in a process of its own, until the test is over. */
export function startGatewayProcess(
  options: Partial<StartGatewayOptions> & Pick<StartGatewayOptions, "upstream">,
): Promise<BrokerProcess> {
  return startProcess(options, onTestFinished);
}

/** The same with a low limit of open files. */
export function startBrokerProcessWithFiles(filesMax: number): Promise<BrokerProcess> {
  const shell = ["/bin/sh", "-c", `ulimit -n ${filesMax}; exec "$0" "$@"`];
  return startProcess({}, onTestFinished, shell);
}

/** Pairs of sockets without a gateway between them; only `rss` and `connections` are reported. */
export function startBarePairs(upstreamPort: number): Promise<BrokerProcess> {
  return startChild("bare-pairs.mjs", `${upstreamPort}`, onTestFinished);
}

type OnEnd = (end: () => Promise<void>) => void;

function startProcess(
  options: object,
  onEnd: OnEnd,
  shell?: readonly string[],
): Promise<BrokerProcess> {
  return startChild("broker-process.mjs", JSON.stringify(options), onEnd, shell);
}

async function startChild(
  program: string,
  argument: string,
  onEnd: OnEnd,
  shell: readonly string[] = [],
): Promise<BrokerProcess> {
  const child = start(program, [argument], onEnd, ["--expose-gc"], shell);
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
    kill: () => ended(child),
    terminate: async () => {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      const [code] = (await exited) as [number | null];
      return code;
    },
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
  };
}

export interface Attack {
  /** How far it got before it was on its way. */
  readonly facts: Readonly<Record<string, number>>;
  readonly stop: () => void;
}

/** Starts an attack; resolves once it is on its way. */
export async function attack(
  name: string,
  port: number,
  count: number,
  program: "attacks.mjs" | "publish-attacks.mjs" = "attacks.mjs",
  onEnd: OnEnd = onTestFinished,
): Promise<Attack> {
  const child = start(program, [name, `${port}`, `${count}`], onEnd);
  const { facts } = await nextMessage<Pick<Attack, "facts">>(child);
  return { facts, stop: () => void child.kill() };
}

/** `shell`: a command that runs the rest of its arguments, such as one that sets limits before. */
function start(
  program: string,
  args: readonly string[],
  onEnd: OnEnd,
  execArgv: string[] = [],
  [execPath = process.execPath, ...before]: readonly string[] = [],
): ChildProcess {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const own = before.length === 0 ? execArgv : [...before, process.execPath, ...execArgv];
  const child = fork(path, args, { execPath, execArgv: own });
  onEnd(() => ended(child));
  return child;
}

/** SIGKILL ends a frozen process too. Waits for the exit: the folder of a process that still writes cannot be removed. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function nextMessage<T>(child: ChildProcess): Promise<T> {
  const [message] = (await once(child, "message")) as [T];
  return message;
}

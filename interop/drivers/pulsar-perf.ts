import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { brokerProgram } from "../programs/found.ts";

/** Its histograms do not fit into 256 MB. */
const HEAP = "-Xmx768m";
const PERF_TIMEOUT_MS = 120_000;

export interface PerfOptions {
  readonly serviceUrl: string;
  readonly token: string;
  readonly topic: string;
  /** Messages per second that it tries to send. */
  readonly ratePerSecond: number;
  readonly durationSeconds: number;
}

/** `pulsar-perf produce` of Pulsar's own distribution; the messages that it has sent, by its own count. */
export async function runPulsarPerf(options: PerfOptions): Promise<number> {
  const broker = brokerProgram();
  if ("missing" in broker) throw new Error(broker.missing);
  const folder = await mkdtemp(join(tmpdir(), "sluice-perf-"));
  try {
    const conf = join(folder, "client.conf");
    await writeFile(conf, "");
    const classPath = broker.args[broker.args.indexOf("-cp") + 1] ?? "";
    const tool = "org.apache.pulsar.testclient.PulsarPerfTestTool";
    const child = spawn(
      broker.command,
      [HEAP, "-cp", classPath, tool, conf, ...argumentsOf(options)],
      {
        cwd: folder,
        stdio: ["ignore", "pipe", "pipe"],
        timeout: PERF_TIMEOUT_MS,
        killSignal: "SIGKILL",
      },
    );
    const closed = once(child, "close");
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    const totals = /--- (\d+) records sent ---/.exec(output);
    if (totals === null)
      throw new Error(`pulsar-perf printed no totals: ${(output + errors).slice(-2_000)}`);
    return Number(totals[1]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function argumentsOf({
  serviceUrl,
  token,
  topic,
  ratePerSecond,
  durationSeconds,
}: PerfOptions): readonly string[] {
  const authentication = [
    "--auth-plugin",
    "org.apache.pulsar.client.impl.auth.AuthenticationToken",
    "--auth-params",
    `token:${token}`,
  ];
  const load = ["-r", String(ratePerSecond), "-s", "200", "-o", "500"];
  const time = ["-time", String(durationSeconds)];
  return ["produce", "-u", serviceUrl, ...authentication, ...load, ...time, topic];
}

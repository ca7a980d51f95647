import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemTimer } from "@sluice/core/system";
import { atExit } from "./at-exit.ts";
import { brokerProgram } from "../programs/found.ts";

/** It takes about 7 s on two idle cores. */
const START_TIMEOUT_MS = 150_000;
const POLL_MS = 250;
const ANSWER_TIMEOUT_MS = 10_000;

export interface RealBrokerOptions {
  /** Settings of `standalone.conf` besides those that make it small and local. */
  readonly settings?: Readonly<Record<string, string>>;
  /** What its administration asks for, if the settings turn authentication on. */
  readonly token?: string;
  /** Paths of PEM files; the key in PKCS #8. With them it listens for pulsar+ssl:// as well. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
}

/** Apache Pulsar's own broker, standalone, on the loopback address, with a folder of its own. */
export class RealBroker {
  readonly #folder: string;
  readonly #ports: Ports;
  readonly #headers: Readonly<Record<string, string>>;
  #process: ChildProcess | undefined;

  private constructor(folder: string, ports: Ports, token: string | undefined) {
    this.#folder = folder;
    this.#ports = ports;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  static async start(options: RealBrokerOptions = {}): Promise<RealBroker> {
    const folder = await mkdtemp(join(tmpdir(), "sluice-pulsar-"));
    const broker = new RealBroker(folder, await freePorts(), options.token);
    await broker.#configure(options);
    try {
      await broker.restart();
    } catch (error) {
      await broker.close();
      throw error;
    }
    return broker;
  }

  get serviceUrl(): string {
    return `pulsar://127.0.0.1:${this.#ports.broker}`;
  }

  get tlsServiceUrl(): string {
    return `pulsar+ssl://127.0.0.1:${this.#ports.tls}`;
  }

  get adminUrl(): string {
    return `http://127.0.0.1:${this.#ports.web}`;
  }

  /** `topic` is a whole name: `persistent://tenant/namespace/name`. */
  async createPartitionedTopic(topic: string, partitions: number): Promise<void> {
    await this.#administer("PUT", `${topic.replace("://", "/")}/partitions`, partitions);
  }

  /** Messages per second, by the broker's own limiter. */
  async setPublishRate(topic: string, messages: number): Promise<void> {
    const rate = { publishThrottlingRateInMsg: messages, publishThrottlingRateInByte: -1 };
    await this.#administer("POST", `${topic.replace("://", "/")}/publishRate`, rate);
  }

  /** As if the power had failed: nothing is flushed, nobody is told. */
  async kill(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const exited = once(running, "exit");
    running.kill("SIGKILL");
    await exited;
  }

  /** Starts again after `kill`, on the same ports with the same data. */
  async restart(): Promise<void> {
    const log = await open(join(this.#folder, "broker.log"), "a");
    const broker = brokerProgram();
    if ("missing" in broker) throw new Error(broker.missing);
    const args = [...broker.args, ...this.#args()];
    const env = { ...process.env, ...broker.env };
    const stdio = ["ignore", log.fd, log.fd] as const;
    const started = spawn(broker.command, args, { cwd: this.#folder, env, stdio: [...stdio] });
    this.#process = started;
    // Neither the process nor its folder may outlive a run, even one that is broken off.
    atExit(() => {
      started.kill("SIGKILL");
      // The process may write until it is dead, and at an exit its end cannot be awaited.
      rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
    });
    await log.close();
    await this.#untilReady(started);
  }

  /** It has nothing worth keeping, so it need not go gracefully, which takes seconds. */
  async close(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** A call of its administration; the path is what follows `/admin/v2/`. */
  async #administer(method: "PUT" | "POST", path: string, body?: unknown): Promise<void> {
    const response = await fetch(`${this.adminUrl}/admin/v2/${path}`, {
      method,
      headers: { ...this.#headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  }

  async #configure({ settings = {}, tls }: RealBrokerOptions): Promise<void> {
    const broker = brokerProgram();
    if ("missing" in broker) throw new Error(broker.missing);
    const shipped = await readFile(broker.standaloneConf, "utf8");
    const own: Record<string, string> = {
      brokerServicePort: String(this.#ports.broker),
      webServicePort: String(this.#ports.web),
      bindAddress: "127.0.0.1",
      advertisedAddress: "127.0.0.1",
      numIOThreads: "2",
      transactionCoordinatorEnabled: "false",
      // Topics that a test has left for a moment must not vanish.
      brokerDeleteInactiveTopicsEnabled: "false",
      ...(tls && {
        brokerServicePortTls: String(this.#ports.tls),
        tlsCertificateFilePath: tls.certFile,
        tlsKeyFilePath: tls.keyFile,
      }),
      ...settings,
    };
    const lines = Object.entries(own).map(([name, value]) => `${name}=${value}`);
    // The last of several lines for one setting holds.
    await writeFile(join(this.#folder, "standalone.conf"), `${shipped}\n${lines.join("\n")}\n`);
  }

  #args(): string[] {
    const options = {
      config: "standalone.conf",
      "bookkeeper-dir": "bookkeeper",
      "metadata-dir": "metadata",
      "bookkeeper-port": String(this.#ports.bookkeeper),
      "advertised-address": "127.0.0.1",
    };
    const named = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    return [...named, "--no-functions-worker", "--no-stream-storage"];
  }

  async #untilReady(started: ChildProcess): Promise<void> {
    const untilMs = systemTimer.now() + START_TIMEOUT_MS;
    while (systemTimer.now() < untilMs) {
      if (started.exitCode !== null) break;
      if (await this.#isReady()) return;
      await systemTimer.sleep(POLL_MS);
    }
    const log = await readFile(join(this.#folder, "broker.log"), "utf8");
    throw new Error(`the broker did not start: ${log.slice(-2_000)}`);
  }

  async #isReady(): Promise<boolean> {
    try {
      // The namespace that topics are in is what it makes last.
      const url = `${this.adminUrl}/admin/v2/namespaces/public/default`;
      const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
      const response = await fetch(url, { signal, headers: this.#headers });
      return response.ok;
    } catch {
      // Nobody listens yet, or not to this.
      return false;
    }
  }
}

interface Ports {
  readonly broker: number;
  readonly tls: number;
  readonly web: number;
  readonly bookkeeper: number;
}

async function freePorts(): Promise<Ports> {
  const [broker, tls] = [await freePort(), await freePort()];
  const [web, bookkeeper] = [await freePort(), await freePort()];
  return { broker, tls, web, bookkeeper };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

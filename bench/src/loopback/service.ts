import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(
  new URL("../../../packages/egress/test/service-process.mjs", import.meta.url),
);

export interface ServiceSettings {
  readonly workers: number;
  /** Mean of exponential times. */
  readonly serviceMs: number;
  readonly quota?: {
    readonly perSecond: number;
    readonly burst: number;
    readonly retryAfterS?: number;
  };
}

/** What the service has seen. */
export interface ServiceCounts {
  /** Requests that came before the time which their client had been told. */
  readonly early: number;
  /** Most requests at once. */
  readonly most: number;
}

/** A service in a process of its own, on a port of the loopback. */
export class Service {
  readonly #child: ChildProcess;
  readonly port: number;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  /** Resolves when it listens: on any free port, or on the given one. */
  static async start(settings: ServiceSettings, port = 0): Promise<Service> {
    const child = fork(SCRIPT, [JSON.stringify({ ...settings, port })], {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const [told] = (await Promise.race([once(child, "message"), gone(child)])) as [
      { readonly port: number },
    ];
    return new Service(child, told.port);
  }

  async counts(): Promise<ServiceCounts> {
    this.#child.send("counts");
    const [counts] = (await once(this.#child, "message")) as [ServiceCounts];
    return counts;
  }

  /** Ends it in the middle of its work. */
  async kill(): Promise<void> {
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }
}

async function gone(child: ChildProcess): Promise<never> {
  await once(child, "exit");
  throw new Error("the service did not start");
}

import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Arrival } from "./figures.ts";

const CHILD = fileURLToPath(new URL("service-child.js", import.meta.url));

/** How late timers of the service's process were, ms: 99 of 100, and the latest. */
export interface Lateness {
  readonly lateMs: number;
  readonly latestMs: number;
}

/** From the service's process: its address first, then arrivals every 50 ms. */
export type ServiceNews =
  | { readonly url: string }
  | { readonly arrivals: readonly Arrival[]; readonly lateness: Lateness };

/** The service, with all arrivals that it has reported. */
export class ServiceProcess {
  readonly url: string;
  readonly arrivals: Arrival[] = [];
  readonly ids = new Set<number>();
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.url = url;
    this.#child = child;
    child.on("message", (news: ServiceNews) => {
      if ("arrivals" in news) for (const arrival of news.arrivals) this.#note(arrival);
    });
  }

  static async start(): Promise<ServiceProcess> {
    const child = fork(CHILD);
    const [news] = (await once(child, "message")) as [ServiceNews];
    if (!("url" in news)) throw new Error("the service began without its address");
    return new ServiceProcess(child, news.url);
  }

  /** Of its whole life so far. */
  async lateness(): Promise<Lateness> {
    const [news] = (await once(this.#child, "message")) as [ServiceNews];
    return "lateness" in news ? news.lateness : { lateMs: 0, latestMs: 0 };
  }

  async close(): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.disconnect();
    await exited;
  }

  #note(arrival: Arrival): void {
    this.arrivals.push(arrival);
    this.ids.add(arrival.id);
  }
}

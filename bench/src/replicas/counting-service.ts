import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { Arrival } from "./figures.ts";

/** The body of a request, as the flow's map makes it. */
type Body = Omit<Arrival, "atMs">;

/** An HTTP service that takes every message and reports it before it answers 200. */
export class CountingService {
  readonly #report: (arrival: Arrival) => void;
  readonly #server = createServer((request, response) => void this.#take(request, response));

  constructor(report: (arrival: Arrival) => void) {
    this.#report = report;
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { id, replica, mappedAtMs } = (await json(request)) as Body;
      this.#report({ id, replica, mappedAtMs, atMs: Date.now() });
      response.end();
    } catch {
      // A replica that is killed leaves a request without its end.
      response.destroy();
    }
  }
}

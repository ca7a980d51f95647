import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

/** The HTTP service behind the pipeline. It can be well, busy, hang, or be down. */
export class Service {
  /** Ids that were answered 200. */
  ids = new Set();
  /** `ok`, `hang`, or how to refuse: `{ status, retryAfter }`. */
  mode = "ok";
  #hanging = new Set();
  #server;
  #port = 0;

  get url() {
    return `http://127.0.0.1:${this.#port}/`;
  }

  async start() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = this.#server.address().port;
  }

  /** Connections are reset, and the port is closed. */
  async stop() {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Well from now on; requests that hang are cut. */
  heal() {
    this.mode = "ok";
    for (const response of this.#hanging) response.destroy();
    this.#hanging.clear();
  }

  async #serve(request, response) {
    let body;
    try {
      body = await json(request);
    } catch {
      return;
    }
    if (this.mode === "hang") {
      this.#hanging.add(response);
      return;
    }
    if (this.mode !== "ok") {
      const { status, retryAfter } = this.mode;
      response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter });
      response.end();
      return;
    }
    this.ids.add(body.id);
    response.end();
  }
}

import { Client } from "undici";

/**
 * One connection for each request in flight, the last used first. A pool of undici would open further ones for
 * requests that begin in the turn of the event loop in which others end: it frees a connection a turn later, while a
 * client by itself lets the request wait for that turn.
 */
export class HttpConnections {
  readonly #origin: string;
  readonly #options: Client.Options;
  readonly #all: Client[] = [];
  readonly #idle: Client[] = [];

  constructor(origin: string, options: Client.Options) {
    this.#origin = origin;
    this.#options = options;
  }

  /** Its holder gives it back once the answer has ended. */
  take(): Client {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const opened = new Client(this.#origin, this.#options);
    this.#all.push(opened);
    return opened;
  }

  giveBack(client: Client): void {
    this.#idle.push(client);
  }

  async destroy(): Promise<void> {
    await Promise.all(this.#all.map((client) => client.destroy()));
  }
}

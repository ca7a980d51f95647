import type { SluiceError } from "@sluice/core";
import { abortable } from "../wait/abortable.ts";
import { ClosedError } from "../error/closed-error.ts";
import { ConnectionError } from "../error/connection-error.ts";
import { targetName } from "./connection-target.ts";
import type { ConnectionTarget } from "./connection-target.ts";
import { Connection } from "./connection.ts";
import type { ConnectionMeans, ConnectionOptions } from "./connection.ts";

/** Far more brokers than a cluster has; it bounds what a lookup that lies can make us open. */
const CONNECTIONS_MAX = 1_000;

interface Held {
  readonly opening: Promise<Connection>;
  readonly giveUp: AbortController;
}

/** One connection to each target, opened when first asked for and again after it was lost. */
export class ConnectionPool {
  readonly #means: ConnectionMeans;
  readonly #options: ConnectionOptions;
  readonly #held = new Map<string, Held>();
  #closedBecause: SluiceError | undefined;

  constructor(means: ConnectionMeans, options: ConnectionOptions) {
    this.#means = means;
    this.#options = options;
  }

  get size(): number {
    return this.#held.size;
  }

  /** The signal ends the wait, not the opening: others may wait for it, too. */
  async get(target: ConnectionTarget, signal?: AbortSignal): Promise<Connection> {
    signal?.throwIfAborted();
    if (this.#closedBecause !== undefined) throw this.#closedBecause;
    const key = `${target.endpoint.isTls ? "tls" : "plain"} ${targetName(target)}`;
    const held = this.#held.get(key) ?? this.#open(key, target);
    return abortable(held.opening, signal);
  }

  close(): void {
    const closed = new ClosedError("the client is closed");
    this.#closedBecause = closed;
    const all = [...this.#held.values()];
    this.#held.clear();
    for (const { opening, giveUp } of all) {
      giveUp.abort(closed);
      opening.then(
        (connection) => connection.close(closed),
        // It failed, or was given up right here.
        () => undefined,
      );
    }
  }

  #open(key: string, target: ConnectionTarget): Held {
    const giveUp = new AbortController();
    const held = { opening: this.#connect(target, giveUp.signal), giveUp };
    const forget = (): void => {
      if (this.#held.get(key) === held) this.#held.delete(key);
    };
    this.#held.set(key, held);
    held.opening.then((connection) => connection.whenClosed(forget), forget);
    return held;
  }

  async #connect(target: ConnectionTarget, signal: AbortSignal): Promise<Connection> {
    if (this.#held.size >= CONNECTIONS_MAX)
      throw new ConnectionError(`there are ${CONNECTIONS_MAX} connections already`);
    return Connection.open(target, this.#means, { ...this.#options, signal });
  }
}

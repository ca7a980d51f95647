import type { SluiceError } from "@sluice/core";
import { abortable } from "../wait/abortable.ts";
import { ClosedError } from "../error/closed-error.ts";
import { ConnectionError } from "../error/connection-error.ts";
import { targetName } from "./connection-target.ts";
import type { ConnectionTarget } from "./connection-target.ts";
import { Connection } from "./connection.ts";
import type { ConnectionDependencies, ConnectionOptions } from "./connection.ts";

/** Connections of one client: more than any cluster has brokers. Bounds the effect of a lying lookup. */
const CONNECTIONS_MAX = 1_000;

interface Held {
  readonly opening: Promise<Connection>;
  readonly giveUp: AbortController;
}

/** One connection per target, opened on first use and again after a loss. */
export class ConnectionPool {
  readonly #dependencies: ConnectionDependencies;
  readonly #options: ConnectionOptions;
  readonly #held = new Map<string, Held>();
  #closedBecause: SluiceError | undefined;

  constructor(dependencies: ConnectionDependencies, options: ConnectionOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
  }

  get size(): number {
    return this.#held.size;
  }

  /** The signal ends this wait, not the opening, which other callers may share. */
  async get(target: ConnectionTarget, signal?: AbortSignal): Promise<Connection> {
    signal?.throwIfAborted();
    if (this.#closedBecause !== undefined) throw this.#closedBecause;
    const key = `${target.endpoint.isTls ? "tls" : "plain"} ${targetName(target)}`;
    const held = this.#held.get(key) ?? this.#open(key, target);
    return abortable(held.opening, signal);
  }

  close(): void {
    const closed = new ClosedError("the client is closed; connect again");
    this.#closedBecause = closed;
    const all = [...this.#held.values()];
    this.#held.clear();
    for (const { opening, giveUp } of all) {
      giveUp.abort(closed);
      opening.then(
        (connection) => connection.close(closed),
        // The opening failed, or was aborted above.
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
      throw new ConnectionError(`the client has ${CONNECTIONS_MAX} connections, the most it opens`);
    return Connection.open(target, this.#dependencies, { ...this.#options, signal });
  }
}

import { ConfigError } from "@sluice/core";
import type { Timer } from "@sluice/core";
import { requireWhole } from "@sluice/core/internal";
import type { NatsConnection, NodeConnectionOptions } from "@nats-io/transport-node";
import { shown } from "../check-options.ts";
import { ConnectorError } from "../connector-error.ts";
import { loadLibrary } from "../load-library.ts";
import type { OpenContext } from "../open-context.ts";
import { natsError } from "./nats-failure.ts";

/** Where NATS is. */
export interface NatsConnectionOptions {
  /** Addresses of servers, e.g. `nats://localhost:4222`; one of them is enough. */
  readonly servers: string | readonly string[];
  /**
   * Further options of `connect` of @nats-io/transport-node, such as `user` and `pass`, `token`, `authenticator`, `tls`.
   * Default: none.
   */
  readonly connection?: Omit<NodeConnectionOptions, "servers"> | undefined;
  /** For each call, ms; 100 to 60,000. @default 5000 */
  readonly timeoutMs?: number | undefined;
}

export const NATS_CONNECTION_KEYS: readonly string[] = ["servers", "connection", "timeoutMs"];

const TIMEOUT_MS = 5000;
const TIMEOUT_MIN_MS = 100;
const TIMEOUT_MAX_MS = 60_000;
/** Pause between two attempts to reach a server again, ms. */
const RECONNECT_MS = 250;

export interface NatsConnecting {
  readonly options: NodeConnectionOptions;
  readonly timeoutMs: number;
}

export function readNatsConnection(what: string, options: NatsConnectionOptions): NatsConnecting {
  const { servers, connection = {}, timeoutMs = TIMEOUT_MS } = options;
  requireWhole(`timeoutMs of ${what}`, timeoutMs, TIMEOUT_MIN_MS, TIMEOUT_MAX_MS);
  const list: readonly unknown[] = Array.isArray(servers) ? servers : [servers];
  const wrong = list.find((server) => typeof server !== "string" || server === "");
  if (list.length === 0 || wrong !== undefined || list.includes(undefined))
    throw new ConfigError(
      `servers of ${what} is ${shown(servers)}; use addresses such as "nats://localhost:4222"`,
    );
  if (!isObject(connection))
    throw new ConfigError(
      `connection of ${what} is ${shown(connection)}; use an object, e.g. { user: "me", pass: "secret" }`,
    );
  const again = { reconnect: true, maxReconnectAttempts: -1, reconnectTimeWait: RECONNECT_MS };
  const own = { servers: list as string[], timeout: timeoutMs };
  return { options: { ...again, ...connection, ...own }, timeoutMs };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** One connection, which the client library renews. */
export class NatsLine {
  readonly client: NatsConnection;
  readonly #what: string;
  readonly #timer: Timer;
  readonly #timeoutMs: number;
  #isConnected = true;
  /** Called when the connection is lost. */
  onLost: () => void = () => undefined;
  /** Called with errors of the server that belong to no call, such as a missing right to publish. */
  onError: (error: Error) => void = () => undefined;

  private constructor(client: NatsConnection, what: string, timer: Timer, timeoutMs: number) {
    this.client = client;
    this.#what = what;
    this.#timer = timer;
    this.#timeoutMs = timeoutMs;
  }

  static async open(
    what: string,
    { options, timeoutMs }: NatsConnecting,
    { timer, name, tell }: OpenContext,
  ): Promise<NatsLine> {
    const { connect } = await loadNats(what, () => import("@nats-io/transport-node"));
    try {
      const client = await connect({ name, ...options });
      const line = new NatsLine(client, what, timer, timeoutMs);
      void line.#watch(tell);
      return line;
    } catch (error) {
      throw natsError(what, error);
    }
  }

  /** Rejects at once while there is no connection. */
  requireConnected(): void {
    if (this.client.isClosed()) throw new ConnectorError(`${this.#what}: the connection is closed`);
    if (!this.#isConnected)
      throw new ConnectorError(`${this.#what}: the connection was lost; connecting again`);
  }

  /** Resolves once the server has read everything that was published before. */
  async flush(): Promise<void> {
    this.requireConnected();
    await this.within(this.client.flush());
  }

  async within<T>(work: Promise<T>): Promise<T> {
    const ended = new AbortController();
    const late = this.#timer.sleep(this.#timeoutMs, ended.signal).then(() => {
      throw new Error(`no answer within ${this.#timeoutMs} ms`);
    });
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      throw natsError(this.#what, error);
    } finally {
      ended.abort();
      late.catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    this.onLost = () => undefined;
    await this.client.close();
  }

  async #watch(tell: OpenContext["tell"]): Promise<void> {
    for await (const status of this.client.status()) {
      if (status.type === "disconnect") {
        this.#isConnected = false;
        tell({ level: "warning", text: `${this.#what}: the connection to NATS was lost` });
        this.onLost();
      } else if (status.type === "reconnect") {
        this.#isConnected = true;
        tell({ level: "info", text: `${this.#what}: connected to NATS again` });
      } else if (status.type === "error") this.onError(status.error);
    }
  }
}

/** Loads a part of the client library of NATS. */
export function loadNats<T>(what: string, importing: () => Promise<T>): Promise<T> {
  return loadLibrary(what, "@nats-io/transport-node @nats-io/jetstream", importing);
}

import type { Clock, Random, SluiceError, Timer } from "@sluice/core";
import type { ServiceUrl } from "../../service-url.ts";
import { ConnectionError } from "../error/connection-error.ts";
import { ConnectionPool } from "../connection/connection-pool.ts";
import type { ConnectionTarget } from "../connection/connection-target.ts";
import type {
  Connection,
  ConnectionDependencies,
  ConnectionOptions,
} from "../connection/connection.ts";
import type { ClientEvent } from "../event/client-event.ts";
import { countPartitions, lookUp } from "./lookup.ts";

export interface ClusterDependencies extends ConnectionDependencies {
  readonly random: Random;
  /** For the publish time of messages only. */
  readonly wallClock: Clock;
}

export interface FindOptions {
  readonly signal?: AbortSignal | undefined;
  /** The broker that the previous broker assigned: no lookup is needed. */
  readonly assigned?: ConnectionTarget | undefined;
  /** The cluster that the topic has migrated to: lookups start there. */
  readonly migratedTo?: ConnectionTarget | undefined;
}

/** One client's view of a Pulsar cluster: its connections, and lookups of topics. */
export class Cluster {
  readonly timer: Timer;
  readonly random: Random;
  readonly wallClock: Clock;
  readonly operationTimeoutMs: number;
  readonly #dependencies: ClusterDependencies;
  readonly #pool: ConnectionPool;
  readonly #serviceTargets: readonly ConnectionTarget[];
  #serviceAt = 0;
  #nextProducerId = 1n;
  #nextConsumerId = 1n;

  constructor(
    dependencies: ClusterDependencies,
    serviceUrl: ServiceUrl,
    options: ConnectionOptions,
  ) {
    const { isTls, addresses } = serviceUrl;
    this.timer = dependencies.timer;
    this.random = dependencies.random;
    this.wallClock = dependencies.wallClock;
    this.operationTimeoutMs = options.operationTimeoutMs;
    this.#dependencies = dependencies;
    this.#pool = new ConnectionPool(dependencies, options);
    this.#serviceTargets = addresses.map((address) => ({ endpoint: { ...address, isTls } }));
  }

  /** Ids are unique per client, not per connection: a SEND frame is resent unchanged on another connection. */
  takeProducerId(): bigint {
    return this.#nextProducerId++;
  }

  takeConsumerId(): bigint {
    return this.#nextConsumerId++;
  }

  emit(event: ClientEvent): void {
    this.#dependencies.emit(event);
  }

  /**
   * A connection for lookups. The addresses of the service URL are tried in turn, each once, starting
   * with the one that worked last; rejects with the last error.
   */
  async service(signal?: AbortSignal): Promise<Connection> {
    const count = this.#serviceTargets.length;
    let last: unknown = new ConnectionError("the service URL has no address");
    for (let tries = 0; tries < count; tries++) {
      const target = this.#serviceTargets[this.#serviceAt % count];
      if (target === undefined) break;
      try {
        return await this.#pool.get(target, signal);
      } catch (error) {
        last = error;
        this.#serviceAt++;
      }
    }
    throw last as SluiceError;
  }

  /** Partitions of a topic, given by its full name; 0 if it is not partitioned. */
  async partitionsOf(topic: string, signal?: AbortSignal): Promise<number> {
    return countPartitions(await this.service(signal), topic, signal);
  }

  /** A connection to the broker that serves a topic, given by its full name. */
  async connectionTo(
    topic: string,
    { signal, assigned, migratedTo }: FindOptions = {},
  ): Promise<Connection> {
    const connect = (target: ConnectionTarget): Promise<Connection> =>
      this.#pool.get(target, signal);
    if (assigned !== undefined) return connect(assigned);
    const start = migratedTo === undefined ? await this.service(signal) : await connect(migratedTo);
    return connect(await lookUp(start, topic, { connect, signal }));
  }

  /** Closes all connections. Attached producers and consumers are told that theirs is lost. */
  close(): void {
    this.#pool.close();
  }
}

import type { Clock, Random, SluiceError, Timer } from "@sluice/core";
import type { ServiceUrl } from "../../service-url.ts";
import { ConnectionError } from "../error/connection-error.ts";
import { ConnectionPool } from "../connection/connection-pool.ts";
import type { ConnectionTarget } from "../connection/connection-target.ts";
import type { Connection, ConnectionMeans, ConnectionOptions } from "../connection/connection.ts";
import type { ClientEvent } from "../api/event.ts";
import { countPartitions, lookUp } from "./lookup.ts";

export interface ClusterMeans extends ConnectionMeans {
  readonly random: Random;
  /** For the dates in messages only. */
  readonly wallClock: Clock;
}

export interface FindOptions {
  readonly signal?: AbortSignal | undefined;
  /** A broker said that the topic is there: nobody is asked. */
  readonly assigned?: ConnectionTarget | undefined;
  /** The topic has moved to the cluster that is reached there. */
  readonly migratedTo?: ConnectionTarget | undefined;
}

/** A Pulsar cluster as one client sees it: where its topics are, and the connections to it. */
export class Cluster {
  readonly timer: Timer;
  readonly random: Random;
  readonly wallClock: Clock;
  readonly operationTimeoutMs: number;
  readonly #means: ClusterMeans;
  readonly #pool: ConnectionPool;
  readonly #serviceTargets: readonly ConnectionTarget[];
  #serviceAt = 0;
  #nextProducerId = 1n;
  #nextConsumerId = 1n;

  constructor(means: ClusterMeans, serviceUrl: ServiceUrl, options: ConnectionOptions) {
    const { isTls, addresses } = serviceUrl;
    this.timer = means.timer;
    this.random = means.random;
    this.wallClock = means.wallClock;
    this.operationTimeoutMs = options.operationTimeoutMs;
    this.#means = means;
    this.#pool = new ConnectionPool(means, options);
    this.#serviceTargets = addresses.map((address) => ({ endpoint: { ...address, isTls } }));
  }

  /** Ids are of the client, not of a connection, so that a frame can be sent again on another. */
  takeProducerId(): bigint {
    return this.#nextProducerId++;
  }

  takeConsumerId(): bigint {
    return this.#nextConsumerId++;
  }

  emit(event: ClientEvent): void {
    this.#means.emit(event);
  }

  /**
   * A connection for questions about the cluster as a whole. The addresses of the service are tried
   * in turn, each once, beginning with the one that worked last; rejects with the last error.
   */
  async service(signal?: AbortSignal): Promise<Connection> {
    const count = this.#serviceTargets.length;
    let last: unknown = new ConnectionError("the service has no address");
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

  /** 0 if the topic, by its full name, is not partitioned. */
  async partitionsOf(topic: string, signal?: AbortSignal): Promise<number> {
    return countPartitions(await this.service(signal), topic, signal);
  }

  /** A connection to the broker that has a topic, by its full name. */
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

  /** Closes all connections. Who is still attached to one is told that it is lost. */
  close(): void {
    this.#pool.close();
  }
}

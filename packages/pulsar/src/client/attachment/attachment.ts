import { SluiceError } from "@sluice/core";
import type { Command } from "../../wire/command.ts";
import { BackOff } from "./back-off.ts";
import { BrokerError } from "../error/broker-error.ts";
import { ClosedError } from "../error/closed-error.ts";
import type { Cluster } from "../lookup/cluster.ts";
import { ConnectionError } from "../error/connection-error.ts";
import { targetName } from "../connection/connection-target.ts";
import type { ConnectionTarget } from "../connection/connection-target.ts";
import type { Attached } from "./attached.ts";
import type { Connection, RequestOptions } from "../connection/connection.ts";
import { deferred } from "../wait/deferred.ts";
import type { Deferred } from "../wait/deferred.ts";
import type { AttachmentRole } from "../api/event.ts";
import { isFinal } from "../error/finality.ts";
import { targetOf } from "../lookup/lookup.ts";

/** A producer or consumer, as its attachment sees it. Only `open` and `onCommand` may throw. */
export interface AttachmentOwner {
  /**
   * Asks the broker to take us: sends PRODUCER or SUBSCRIBE with `options` and resolves once the
   * broker has agreed. What it throws ends the attachment if trying again cannot help.
   */
  open(connection: Connection, options: RequestOptions): Promise<void>;
  /** A command for the owner's id that is not about the attachment itself. */
  onCommand(command: Command, entry: Buffer): void;
  onDrain(): void;
  /** Attached, and `connection` is there: the first time, or again. */
  onAttached(connection: Connection): void;
  /** Nothing more comes from the connection that was. */
  onDetached(reason: SluiceError): void;
  /** It will not attach again, and `close` was not the reason. */
  onEnded(error: SluiceError): void;
}

export interface AttachmentOptions {
  readonly role: AttachmentRole;
  /** From `takeProducerId` or `takeConsumerId` of the cluster. */
  readonly id: bigint;
  /** Its full name. */
  readonly topic: string;
}

/** Why an attachment was lost, and what the broker said about where to go. */
interface Loss {
  readonly reason: SluiceError;
  /** It had not come about. */
  readonly isFailure?: true;
  readonly assigned?: ConnectionTarget | undefined;
  readonly migratedTo?: ConnectionTarget | undefined;
}

/** One opening on one connection, and how it was lost. */
interface Attempt {
  readonly connection: Connection;
  readonly lost: Deferred<Loss>;
  loss: Loss | undefined;
}

/**
 * Keeps a producer or consumer attached to the broker that has its topic: finds it, connects, opens,
 * and begins anew, after a pause, when the connection is lost or the broker sends it away.
 */
export class Attachment {
  readonly #cluster: Cluster;
  readonly #options: AttachmentOptions;
  readonly #owner: AttachmentOwner;
  readonly #backOff: BackOff;
  readonly #stopping = new AbortController();
  readonly #first: Deferred<void> = deferred();
  #connection: Connection | undefined;
  #migratedTo: ConnectionTarget | undefined;
  #wasAttached = false;
  #hasDeadline = true;
  #running: Promise<void> | undefined;

  constructor(cluster: Cluster, owner: AttachmentOwner, options: AttachmentOptions) {
    this.#cluster = cluster;
    this.#owner = owner;
    this.#options = options;
    this.#backOff = new BackOff(cluster.random);
    // Only `start` waits for it, and may never be called.
    this.#first.promise.catch(() => undefined);
  }

  /** While it is attached. */
  get connection(): Connection | undefined {
    return this.#connection;
  }

  /**
   * Resolves once it is attached. Tries for as long as an operation may take; rejects, like the
   * owner's `onEnded`, with the error that ended it. Aborting the signal closes the attachment.
   */
  async start(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const onAbort = (): void => {
      this.#first.reject(signal?.reason);
      this.#stopping.abort(new ClosedError("its start was aborted"));
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#running = this.#run(this.#cluster.timer.now());
    try {
      await this.#first.promise;
      signal?.throwIfAborted();
    } catch (error) {
      await this.#running;
      throw error;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** The owner has learnt that being attached is of no more use. */
  end(error: SluiceError): void {
    const connection = this.#connection;
    connection?.send(this.#farewell(connection.takeRequestId()));
    this.#stopping.abort(error);
    this.#first.reject(error);
    this.#owner.onEnded(error);
  }

  /** Takes leave of the broker, if there is one, and waits for its word, but not for ever. */
  async close(): Promise<void> {
    const connection = this.#connection;
    const closed = new ClosedError(`the ${this.#options.role} is closed`);
    this.#first.reject(closed);
    this.#stopping.abort(closed);
    await this.#running;
    if (connection === undefined || !connection.isOpen) return;
    // A broker that does not answer, or is lost meanwhile, has nothing of ours any more.
    await connection
      .request("success", (requestId) => this.#farewell(requestId))
      .catch(() => undefined);
  }

  /** Never rejects. */
  async #run(startedAtMs: number): Promise<void> {
    let assigned: ConnectionTarget | undefined;
    while (!this.#isStopped()) {
      const loss = await this.#attach(assigned).catch(failure);
      if (this.#isStopped()) break;
      if (loss.isFailure && this.#isOver(loss.reason, startedAtMs)) {
        this.end(loss.reason);
        return;
      }
      assigned = loss.assigned;
      this.#migratedTo = loss.migratedTo ?? this.#migratedTo;
      await this.#pause(loss.reason);
    }
    this.#first.reject(this.#stopping.signal.reason);
  }

  /** A call, because the compiler takes a property to stay as it was when it was last looked at. */
  #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Attaches, and resolves when that is lost again, or rejects if it cannot attach. */
  async #attach(assigned: ConnectionTarget | undefined): Promise<Loss> {
    const { role, id, topic } = this.#options;
    const { signal } = this.#stopping;
    const migratedTo = this.#migratedTo;
    const connection = await this.#cluster.connectionTo(topic, { signal, assigned, migratedTo });
    const attempt: Attempt = { connection, lost: deferred(), loss: undefined };
    connection.attach(role, id, this.#attached(attempt));
    try {
      await Promise.race([this.#open(connection), attempt.lost.promise]);
    } catch (error) {
      connection.detach(role, id);
      // The broker may have agreed, or may yet.
      if (!(error instanceof BrokerError) && connection.isOpen)
        connection.send(this.#farewell(connection.takeRequestId()));
      throw error;
    }
    // The broker may have taken us and sent us away in one breath.
    if (attempt.loss !== undefined) return { ...attempt.loss, isFailure: true };
    this.#onAttached(connection);
    const onStop = (): void => this.#lose(attempt, { reason: asError(signal.reason) });
    signal.addEventListener("abort", onStop, { once: true });
    if (signal.aborted) onStop();
    const loss = await attempt.lost.promise;
    signal.removeEventListener("abort", onStop);
    return loss;
  }

  #open(connection: Connection): Promise<void> {
    const onHold = (): void => {
      this.#hasDeadline = false;
    };
    return this.#owner.open(connection, { signal: this.#stopping.signal, onHold });
  }

  #attached(attempt: Attempt): Attached {
    return {
      onCommand: (command, entry) => {
        const loss = lossBy(command, attempt.connection);
        if (loss === undefined) this.#owner.onCommand(command, entry);
        else this.#lose(attempt, loss);
      },
      onDrain: () => this.#owner.onDrain(),
      onLost: (reason) => this.#lose(attempt, { reason }),
    };
  }

  /** At once: nothing may be sent under an id that the broker has forgotten. */
  #lose(attempt: Attempt, loss: Loss): void {
    const { connection } = attempt;
    attempt.loss = loss;
    connection.detach(this.#options.role, this.#options.id);
    if (this.#connection === connection) {
      this.#connection = undefined;
      this.#owner.onDetached(loss.reason);
    }
    attempt.lost.resolve(loss);
  }

  #onAttached(connection: Connection): void {
    const { role, topic } = this.#options;
    this.#connection = connection;
    this.#backOff.reset();
    if (this.#wasAttached) {
      const address = targetName(connection.target);
      const atMs = this.#cluster.timer.now();
      this.#cluster.emit({ type: "reattached", role, topic, address, atMs });
    }
    this.#wasAttached = true;
    this.#owner.onAttached(connection);
    this.#first.resolve();
  }

  async #pause(reason: SluiceError): Promise<void> {
    const { role, topic } = this.#options;
    const pauseMs = this.#backOff.nextMs();
    const atMs = this.#cluster.timer.now();
    this.#cluster.emit({ type: "detached", role, topic, reason, pauseMs, atMs });
    // Only `#stopping` ends a sleep early, and the loop looks at it next.
    await this.#cluster.timer.sleep(pauseMs, this.#stopping.signal).catch(() => undefined);
  }

  #isOver(reason: SluiceError, startedAtMs: number): boolean {
    if (isFinal(reason, this.#wasAttached)) return true;
    if (this.#wasAttached || !this.#hasDeadline) return false;
    return this.#cluster.timer.now() - startedAtMs >= this.#cluster.operationTimeoutMs;
  }

  #farewell(requestId: bigint): Command {
    const { role, id } = this.#options;
    if (role === "producer") return { kind: "closeProducer", body: { producerId: id, requestId } };
    return { kind: "closeConsumer", body: { consumerId: id, requestId } };
  }
}

/** What a command says about the attachment itself; undefined if it is about something else. */
function lossBy(command: Command, { target }: Connection): Loss | undefined {
  const isProxied = target.proxyTo !== undefined;
  if (command.kind === "closeProducer" || command.kind === "closeConsumer") {
    const reason = new ConnectionError("the broker has sent us away");
    const { assignedBrokerServiceUrl: plain, assignedBrokerServiceUrlTls: tls } = command.body;
    const url = target.endpoint.isTls ? tls : plain;
    if (url === undefined || url === "") return { reason };
    const urls = { brokerServiceUrl: plain, brokerServiceUrlTls: tls };
    return { reason, assigned: targetOf(urls, target, isProxied) };
  }
  if (command.kind !== "topicMigrated") return undefined;
  const reason = new ConnectionError("the topic has moved to another cluster");
  return { reason, migratedTo: targetOf(command.body, target, false) };
}

function failure(error: unknown): Loss {
  return { reason: asError(error), isFailure: true };
}

function asError(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  return new ConnectionError("attaching failed", { cause: error });
}

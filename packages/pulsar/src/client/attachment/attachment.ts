import { SluiceError } from "@sluice/core";
import { addAbortListener, removeAbortListener } from "@sluice/core/internal";
import type { Command } from "../../wire/command.ts";
import type { CommandThrottleProducer } from "../../wire/definition/throttle.ts";
import type { Attached } from "../connection/attached.ts";
import { targetName } from "../connection/connection-target.ts";
import type { ConnectionTarget } from "../connection/connection-target.ts";
import type { Connection, RequestOptions } from "../connection/connection.ts";
import { BrokerError } from "../error/broker-error.ts";
import { ClosedError } from "../error/closed-error.ts";
import { ConnectionError } from "../error/connection-error.ts";
import type { AttachmentRole } from "../event/client-event.ts";
import type { Cluster } from "../lookup/cluster.ts";
import { deferred } from "../wait/deferred.ts";
import type { Deferred } from "../wait/deferred.ts";
import { Backoff } from "./backoff.ts";
import { isFinal } from "./final-error.ts";
import { lossBy } from "./loss.ts";
import type { Loss } from "./loss.ts";

/** The producer or consumer of an attachment. Only `open` and `onCommand` may throw. */
export interface AttachmentOwner {
  /**
   * Sends PRODUCER or SUBSCRIBE with `options`; resolves once the broker has agreed. An error ends
   * the attachment if a retry cannot help.
   */
  open(connection: Connection, options: RequestOptions): Promise<void>;
  /** A command for the owner's id that is not about the attachment itself. */
  onCommand(command: Command, entry: Buffer): void;
  /** The broker limits the owner, a producer; it may come before `onAttached`. */
  onThrottle?(command: CommandThrottleProducer): void;
  onDrain(): void;
  /** The owner is attached, for the first time or again. */
  onAttached(connection: Connection): void;
  /** The connection is gone; no more commands come from it. */
  onDetached(reason: SluiceError): void;
  /** The owner will not be attached again, and `close` is not the reason. */
  onEnded(error: SluiceError): void;
}

export interface AttachmentOptions {
  readonly role: AttachmentRole;
  /** From `takeProducerId` or `takeConsumerId` of the cluster. */
  readonly id: bigint;
  /** The full name. */
  readonly topic: string;
}

/** One opening on one connection. */
interface Attempt {
  readonly connection: Connection;
  readonly lost: Deferred<Loss>;
  loss: Loss | undefined;
  /** Whether a command for the owner came, such as a receipt or a message. */
  isProven: boolean;
}

/**
 * An attachment without traffic that lasted this long, in ms, counts as a success for the backoff: ten
 * times the first pause. Lowered, a broker that accepts and drops its clients is asked more often.
 */
const STABLE_AFTER_MS = 1_000;

/**
 * Keeps a producer or consumer attached to the broker of its topic: lookup, connection, PRODUCER or
 * SUBSCRIBE; and again, after a backoff, when the connection is lost or the broker closes it.
 *
 * The backoff starts over after a success: the first receipt or message on an attachment, or
 * `STABLE_AFTER_MS` without traffic. Being attached is not enough, because a broker that accepts
 * clients and drops them would then be asked ten times a second.
 */
export class Attachment {
  readonly #cluster: Cluster;
  readonly #options: AttachmentOptions;
  readonly #owner: AttachmentOwner;
  readonly #backoff: Backoff;
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
    this.#backoff = new Backoff(cluster.random);
    // Only `start` waits for it, and `start` may never be called.
    this.#first.promise.catch(() => undefined);
  }

  /** Undefined while detached. */
  get connection(): Connection | undefined {
    return this.#connection;
  }

  /**
   * Resolves once attached. Retries for at most `operationTimeoutMs`; rejects with the error that is
   * also given to the owner's `onEnded`. Aborting the signal closes the attachment.
   */
  async start(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const listener = {
      handleEvent: (): void => {
        this.#first.reject(signal?.reason);
        this.#stopping.abort(new ClosedError(`attaching the ${this.#name} was aborted`));
      },
    };
    if (signal !== undefined) addAbortListener(signal, listener);
    this.#running = this.#run(this.#cluster.timer.now());
    try {
      await this.#first.promise;
      signal?.throwIfAborted();
    } catch (error) {
      await this.#running;
      throw error;
    } finally {
      if (signal !== undefined) removeAbortListener(signal, listener);
    }
  }

  /** Stops for good because of `error`, which only the owner may have noticed. */
  end(error: SluiceError): void {
    const { role, topic } = this.#options;
    const connection = this.#connection;
    connection?.send(this.#closeCommand(connection.takeRequestId()));
    this.#stopping.abort(error);
    this.#first.reject(error);
    const atMs = this.#cluster.timer.now();
    this.#cluster.emit({ type: "ended", role, topic, reason: error, atMs });
    this.#owner.onEnded(error);
  }

  /** Sends CLOSE_PRODUCER or CLOSE_CONSUMER and waits for the answer, at most `operationTimeoutMs`, or until the signal. */
  async close(signal?: AbortSignal): Promise<void> {
    const connection = this.#connection;
    const closed = new ClosedError(`the ${this.#name} is closed; create another`);
    this.#first.reject(closed);
    this.#stopping.abort(closed);
    await this.#running;
    if (connection === undefined || !connection.isOpen) return;
    // If the broker does not answer, its side ends with the connection.
    await connection
      .request("success", (requestId) => this.#closeCommand(requestId), { signal })
      .catch(() => undefined);
  }

  /** Never rejects. */
  async #run(startedAtMs: number): Promise<void> {
    let assigned: ConnectionTarget | undefined;
    while (!this.#isStopped()) {
      const loss: Loss = await this.#attach(assigned).catch((error: unknown) => ({
        reason: this.#asError(error),
        isFailure: true as const,
      }));
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

  /** A method, because the compiler assumes that a property keeps its last known value. */
  #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Resolves when an attachment is lost again; rejects if the attempt failed. */
  async #attach(assigned: ConnectionTarget | undefined): Promise<Loss> {
    const { role, id, topic } = this.#options;
    const { signal } = this.#stopping;
    const migratedTo = this.#migratedTo;
    const connection = await this.#cluster.connectionTo(topic, { signal, assigned, migratedTo });
    const attempt: Attempt = { connection, lost: deferred(), loss: undefined, isProven: false };
    connection.attach(role, id, this.#attached(attempt));
    try {
      await Promise.race([this.#open(connection), attempt.lost.promise]);
    } catch (error) {
      connection.detach(role, id);
      // The broker may have agreed already, or may yet.
      if (!(error instanceof BrokerError) && connection.isOpen)
        connection.send(this.#closeCommand(connection.takeRequestId()));
      throw error;
    }
    // The broker may agree and close the producer or consumer in the same read.
    if (attempt.loss !== undefined) return { ...attempt.loss, isFailure: true };
    this.#onAttached(connection);
    return this.#untilLost(attempt);
  }

  async #untilLost(attempt: Attempt): Promise<Loss> {
    const { timer } = this.#cluster;
    const { signal } = this.#stopping;
    const attachedAtMs = timer.now();
    const listener = {
      handleEvent: (): void => this.#lose(attempt, { reason: this.#asError(signal.reason) }),
    };
    if (signal.aborted) listener.handleEvent();
    else addAbortListener(signal, listener);
    const loss = await attempt.lost.promise;
    removeAbortListener(signal, listener);
    if (attempt.isProven || timer.now() - attachedAtMs >= STABLE_AFTER_MS) this.#backoff.reset();
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
        if (loss === undefined) {
          attempt.isProven = true;
          this.#owner.onCommand(command, entry);
        } else this.#lose(attempt, loss);
      },
      onThrottle: (command) => this.#owner.onThrottle?.(command),
      onDrain: () => this.#owner.onDrain(),
      onLost: (reason) => this.#lose(attempt, { reason }),
    };
  }

  /** Synchronous: no command may be sent under an id that the broker has closed. */
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
    const pauseMs = this.#backoff.nextMs();
    const atMs = this.#cluster.timer.now();
    this.#cluster.emit({ type: "detached", role, topic, reason, pauseMs, atMs });
    // Only `#stopping` ends a sleep early, and the loop checks it next.
    await this.#cluster.timer.sleep(pauseMs, this.#stopping.signal).catch(() => undefined);
  }

  #isOver(reason: SluiceError, startedAtMs: number): boolean {
    if (isFinal(reason, this.#wasAttached)) return true;
    if (this.#wasAttached || !this.#hasDeadline) return false;
    return this.#cluster.timer.now() - startedAtMs >= this.#cluster.operationTimeoutMs;
  }

  #closeCommand(requestId: bigint): Command {
    const { role, id } = this.#options;
    if (role === "producer") return { kind: "closeProducer", body: { producerId: id, requestId } };
    return { kind: "closeConsumer", body: { consumerId: id, requestId } };
  }

  #asError(error: unknown): SluiceError {
    if (error instanceof SluiceError) return error;
    return new ConnectionError(`attaching the ${this.#name} failed`, { cause: error });
  }

  get #name(): string {
    return `${this.#options.role} of ${this.#options.topic}`;
  }
}

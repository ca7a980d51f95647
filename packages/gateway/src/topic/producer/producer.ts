import { RefusalError } from "../../refusal/refusal-error.ts";
import type { Position } from "../../storage/position.ts";
import type { ProducerHandle, ProducerRequest, Publication } from "./producer-handle.ts";
import type { ProducerStats } from "../topic-stats.ts";
import { Traffic } from "../traffic.ts";

export interface ProducerTopic {
  publish(producer: Producer, publication: Publication): Promise<Position | undefined>;
  /** The producer has closed itself. */
  leave(producer: Producer): void;
}

interface ProducerFacts {
  readonly name: string;
  readonly nowMs: number;
  readonly lastSequenceId: bigint;
}

/**
 * One producer of a topic: it publishes once it is ready and until it is closed. A producer that was
 * refused an entry for lack of room is blocked: nothing that it sends after that entry is stored.
 */
export class Producer implements ProducerHandle {
  readonly name: string;
  readonly request: ProducerRequest;
  readonly lastSequenceId: bigint;
  readonly in: Traffic;
  readonly #topic: ProducerTopic;
  readonly #connectedAtMs: number;
  #topicEpoch: bigint | undefined;
  #blocked: RefusalError | undefined;
  #state: "waiting" | "ready" | "closed" = "waiting";

  constructor(
    topic: ProducerTopic,
    request: ProducerRequest,
    { name, nowMs, lastSequenceId }: ProducerFacts,
  ) {
    this.#topic = topic;
    this.#connectedAtMs = nowMs;
    this.in = new Traffic(nowMs);
    this.name = name;
    this.lastSequenceId = lastSequenceId;
    this.request = request;
  }

  get isReady(): boolean {
    return this.#state === "ready";
  }

  get topicEpoch(): bigint | undefined {
    return this.#topicEpoch;
  }

  publish(publication: Publication): Promise<Position | undefined> {
    if (this.#blocked !== undefined) return Promise.reject(this.#blocked);
    if (this.#state === "ready") return this.#topic.publish(this, publication);
    const why = this.#state === "closed" ? "is closed" : "waits for its turn";
    return Promise.reject(new RefusalError("ProducerFenced", `producer ${this.name} ${why}`));
  }

  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#topic.leave(this);
  }

  /** Refuses everything from now on; only a new producer can publish what was refused. */
  block(why: RefusalError): void {
    this.#blocked ??= why;
  }

  /** The producer may publish; an epoch says that it is exclusive. */
  start(topicEpoch?: bigint): void {
    if (this.#state === "closed") return;
    this.#topicEpoch = topicEpoch;
    this.#state = "ready";
  }

  /** Closes the producer from the broker's side. Its session is told unless it opened the successor. */
  end(why?: RefusalError): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    if (why !== undefined) this.request.onClosed(why);
  }

  stats(): ProducerStats {
    const { id, accessMode, client } = this.request;
    const connectedAtMs = this.#connectedAtMs;
    return { name: this.name, id, accessMode, connectedAtMs, client, in: this.in.stats };
  }
}

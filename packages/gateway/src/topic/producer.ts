import { RefusalError } from "../refusal/refusal-error.ts";
import type { Position } from "../storage/position.ts";
import type { ProducerHandle, ProducerRequest, Publication } from "./producer-handle.ts";

export interface ProducerTopic {
  publish(publication: Publication): Promise<Position>;
  /** The producer has closed itself. */
  leave(producer: Producer): void;
}

/** One producer of a topic: it publishes once it is ready and until it is closed. */
export class Producer implements ProducerHandle {
  readonly name: string;
  readonly request: ProducerRequest;
  readonly #topic: ProducerTopic;
  #topicEpoch: bigint | undefined;
  #state: "waiting" | "ready" | "closed" = "waiting";

  constructor(topic: ProducerTopic, name: string, request: ProducerRequest) {
    this.#topic = topic;
    this.name = name;
    this.request = request;
  }

  get isReady(): boolean {
    return this.#state === "ready";
  }

  get topicEpoch(): bigint | undefined {
    return this.#topicEpoch;
  }

  publish(publication: Publication): Promise<Position> {
    if (this.#state === "ready") return this.#topic.publish(publication);
    const why = this.#state === "closed" ? "is closed" : "waits for its turn";
    return Promise.reject(new RefusalError("ProducerFenced", `producer ${this.name} ${why}`));
  }

  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#topic.leave(this);
  }

  /** From now on it may publish; alone, if there is an epoch. */
  start(topicEpoch?: bigint): void {
    if (this.#state === "closed") return;
    this.#topicEpoch = topicEpoch;
    this.#state = "ready";
  }

  /** Ends it without asking. Whoever opened it hears why, unless it made its own successor. */
  end(why?: RefusalError): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    if (why !== undefined) this.request.onClosed(why);
  }
}

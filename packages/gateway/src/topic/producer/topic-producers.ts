import type { Clock } from "@sluice/core";
import { requireClientName } from "../../name/topic-name.ts";
import { RefusalError } from "../../refusal/refusal-error.ts";
import type { Position } from "../../storage/position.ts";
import type { NameMaker } from "./name-maker.ts";
import type { ProducerRequest, Publication } from "./producer-handle.ts";
import { Producer } from "./producer.ts";
import type { Listing, Steps } from "../stats-steps.ts";
import type { ProducerStats } from "../topic-stats.ts";

export interface TopicProducersOptions {
  /** Incremented each time a producer gains exclusive access. */
  readonly topicEpoch: bigint;
  /** Resolves once it is durable; rejects with a `RefusalError`. */
  readonly saveTopicEpoch: (topicEpoch: bigint) => Promise<void>;
  readonly publish: (producer: Producer, publication: Publication) => Promise<Position | undefined>;
  /** The last sequence id of a name that opens; -1 if none is known. */
  readonly onOpened: (name: string) => bigint;
  readonly wallClock: Clock;
  readonly producersMax: number;
}

/**
 * The producers of a topic: any number of shared ones, or one exclusive. Each exclusive producer has
 * an epoch, so that one that was disconnected learns that another was exclusive meanwhile.
 */
export class TopicProducers {
  readonly #names: NameMaker;
  readonly #options: TopicProducersOptions;
  readonly #byName = new Map<string, Producer>();
  #waiting: Producer[] = [];
  #exclusive: Producer | undefined;
  #topicEpoch: bigint;

  constructor(names: NameMaker, options: TopicProducersOptions) {
    this.#names = names;
    this.#options = options;
    this.#topicEpoch = options.topicEpoch;
  }

  get size(): number {
    return this.#byName.size;
  }

  /** Throws a `RefusalError` if it may not join. */
  async open(request: ProducerRequest): Promise<Producer> {
    const name = request.producerName ?? this.#names.next();
    requireClientName("NotAllowedError", "a producer's name", name);
    this.#replaceOwn(name, request);
    const isFree = this.#admitOrCallNext(request);
    const nowMs = this.#options.wallClock.now();
    const lastSequenceId = this.#options.onOpened(name);
    const producer = new Producer(this, request, { name, nowMs, lastSequenceId });
    this.#byName.set(name, producer);
    if (request.accessMode === "shared") producer.start();
    else if (!isFree) this.#waiting.push(producer);
    else if (!(await this.#makeExclusive(producer))) throw fenced();
    return producer;
  }

  publish(producer: Producer, publication: Publication): Promise<Position | undefined> {
    return this.#options.publish(producer, publication);
  }

  sample(nowMs: number): void {
    for (const producer of this.#byName.values()) producer.in.sample(nowMs);
  }

  *stats(listing: Listing): Steps<readonly ProducerStats[]> {
    const stats: ProducerStats[] = [];
    for (const producer of [...this.#byName.values()].slice(0, listing.take(this.size))) {
      stats.push(producer.stats());
      yield* listing.passed(1);
    }
    return stats;
  }

  leave(producer: Producer): void {
    this.#remove(producer);
    this.#callNext();
  }

  /** Ends all, also those that wait. */
  endAll(why: RefusalError): void {
    const all = [...this.#byName.values()];
    this.#byName.clear();
    this.#waiting = [];
    this.#exclusive = undefined;
    for (const producer of all) producer.end(why);
  }

  #replaceOwn(name: string, { owner, epoch }: ProducerRequest): void {
    const known = this.#byName.get(name);
    if (known === undefined) return;
    if (known.request.owner !== owner || known.request.epoch >= epoch) {
      if (known.request.owner !== owner) known.request.onContested?.();
      throw new RefusalError("ProducerBusy", `a producer named ${name} is connected`);
    }
    known.end();
    this.#remove(known);
  }

  /** If it may not join but has replaced another, that one's place is free. */
  #admitOrCallNext(request: ProducerRequest): boolean {
    try {
      return this.#admit(request);
    } catch (error) {
      this.#callNext();
      throw error;
    }
  }

  /** Answers whether it is its turn at once. */
  #admit({ accessMode, topicEpoch }: ProducerRequest): boolean {
    if (this.#byName.size >= this.#options.producersMax)
      throw new RefusalError("ProducerBusy", "the topic has too many producers");
    if (accessMode === "shared") {
      if (this.#exclusive === undefined && this.#waiting.length === 0) return true;
      this.#exclusive?.request.onContested?.();
      throw new RefusalError("ProducerBusy", "the topic has an exclusive producer");
    }
    const isFree = this.#byName.size === 0;
    if (accessMode === "exclusive" && !isFree)
      throw new RefusalError("ProducerFenced", "the topic has other producers");
    if (topicEpoch !== undefined && topicEpoch < this.#topicEpoch)
      throw new RefusalError("ProducerFenced", "another producer was exclusive meanwhile");
    if (accessMode === "wait-for-exclusive") return isFree;
    this.endAll(fenced());
    return true;
  }

  /** Answers false if it was closed meanwhile. */
  async #makeExclusive(producer: Producer): Promise<boolean> {
    this.#exclusive = producer;
    // A producer that returns with the newest epoch keeps it. An epoch that was never given is ignored.
    const isBack = producer.request.topicEpoch === this.#topicEpoch;
    if (!isBack) this.#topicEpoch++;
    const topicEpoch = this.#topicEpoch;
    try {
      await this.#options.saveTopicEpoch(topicEpoch);
    } catch (error) {
      producer.close();
      throw error;
    }
    producer.start(topicEpoch);
    return producer.isReady;
  }

  #callNext(): void {
    if (this.#byName.size > this.#waiting.length) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    const { onClosed } = next.request;
    this.#call(next).catch((error: RefusalError) => onClosed(error));
  }

  async #call(next: Producer): Promise<void> {
    const isGiven = await this.#makeExclusive(next);
    if (isGiven && next.topicEpoch !== undefined) next.request.onReady(next.topicEpoch);
  }

  #remove(producer: Producer): void {
    if (this.#byName.get(producer.name) === producer) this.#byName.delete(producer.name);
    this.#waiting = this.#waiting.filter((other) => other !== producer);
    if (this.#exclusive === producer) this.#exclusive = undefined;
  }
}

function fenced(): RefusalError {
  return new RefusalError("ProducerFenced", "another producer is exclusive now");
}

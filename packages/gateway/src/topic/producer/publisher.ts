import type { Clock } from "@sluice/core";
import { RECORD_HEADER_BYTES } from "../../storage/segment/record.ts";
import type { NewEntry, TopicLog } from "../../storage/log/topic-log.ts";
import type { Position } from "../../storage/position.ts";
import { StorageError } from "../../storage/storage-error.ts";
import type { RefusalError } from "../../refusal/refusal-error.ts";
import { refusalOf } from "../refusal.ts";
import { Traffic } from "../traffic.ts";
import type { Deduplication } from "./deduplication.ts";
import { blockedRefusal } from "./producer-block.ts";
import type { BlockReason, ProducerBlock } from "./producer-block.ts";
import type { Publication } from "./producer-handle.ts";
import type { Producer } from "./producer.ts";

export interface PublisherOptions {
  readonly log: TopicLog;
  readonly wallClock: Clock;
  readonly block: ProducerBlock;
  readonly deduplication: Deduplication;
  /** An entry of so many bytes is stored, its header counted. */
  readonly onStored: (bytes: number) => void;
  /** Subscriptions can deliver it now; `isFirst` of its ledger. */
  readonly onReadable: (isFirst: boolean) => void;
  /** The log can promise nothing any more. */
  readonly onFailed: (error: unknown) => void;
}

/** Appends what producers publish to the log of a persistent topic, unless they are blocked. */
export class Publisher {
  readonly in: Traffic;
  readonly #options: PublisherOptions;
  #publishedAtMs: number | undefined;
  #newestLedgerId: number;
  #lastAppend: Promise<unknown> = Promise.resolve();

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.in = new Traffic(options.wallClock.now());
    this.#newestLedgerId = options.log.end.ledgerId;
  }

  /** When an entry was last published; undefined if none was since the topic was opened. */
  get publishedAtMs(): number | undefined {
    return this.#publishedAtMs;
  }

  /** What was published until now is stored, or will not be. */
  async settled(): Promise<void> {
    await this.#lastAppend.catch(() => undefined);
  }

  publish(producer: Producer, { parts, messageCount }: Publication): Promise<Position | undefined> {
    const { log, block, deduplication, wallClock } = this.#options;
    const publishedAtMs = Math.floor(wallClock.now());
    const entry: NewEntry = { parts, messageCount, publishedAtMs };
    if (!block.isHolding && !log.hasRoomFor(entry)) block.begin("storage-full");
    if (block.isHolding) return Promise.reject(refuse(producer, block.reason ?? "storage-full"));
    const sequence = deduplication.sequenceOf(parts);
    if (sequence !== undefined && deduplication.isRepeated(sequence))
      return this.#lastAppend.then(() => {
        if (!deduplication.isStored(sequence)) throw refuse(producer, "storage-full");
        return undefined;
      });
    const isRetry = block.reason !== undefined;
    const appended = log.append(entry).then(
      (position) => {
        this.#onStored(producer, entry);
        deduplication.onStored(sequence, position);
        if (isRetry) block.end("storage-full");
        else block.retry();
        const { ledgerId } = position;
        const isFirst = ledgerId !== this.#newestLedgerId;
        this.#newestLedgerId = ledgerId;
        this.#options.onReadable(isFirst);
        return position;
      },
      (error: unknown) => {
        if (log.failure !== undefined) this.#options.onFailed(error);
        if (!(error instanceof StorageError) || !error.mayHeal) throw refusalOf(error);
        block.begin("storage-full");
        throw refuse(producer, "storage-full", error);
      },
    );
    this.#lastAppend = appended;
    return appended;
  }

  #onStored(producer: Producer, { parts, messageCount, publishedAtMs }: NewEntry): void {
    let bytes = 0;
    for (const part of parts) bytes += part.length;
    this.in.add(messageCount, bytes);
    producer.in.add(messageCount, bytes);
    this.#publishedAtMs = publishedAtMs;
    this.#options.onStored(bytes + RECORD_HEADER_BYTES);
  }
}

/** Blocks the producer, so that nothing it sent later is stored before the entry that was refused. */
function refuse(producer: Producer, reason: BlockReason, cause?: unknown): RefusalError {
  const why = blockedRefusal(reason, cause);
  producer.block(why);
  return why;
}

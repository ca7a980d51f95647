import type { CommandMessage } from "../../../wire/definition/consumer.ts";
import type { MessageIdData } from "../../../wire/definition/message-id.ts";
import { MessageId } from "../../message/message-id.ts";
import { ChunkAssembler, isChunk } from "./chunk-assembler.ts";
import { CorruptEntryError } from "./corrupt-entry-error.ts";
import { entryIdOf } from "./delivery.ts";
import { claimedMessages, IncomingEntry, readRawEntry } from "./incoming-entry.ts";
import type { EntryRules, RawEntry, Received } from "./incoming-entry.ts";
import { ReceiveQueue } from "./receive-queue.ts";
import type { QueuedEntry } from "./receive-queue.ts";
import { UnreadableMessageError } from "./unreadable-message-error.ts";

export interface InboxOptions {
  readonly queueSize: number;
  readonly rules: EntryRules;
  /** Gives the broker more permits, at least 1. */
  readonly onFlow: (permits: number) => void;
  /** A corrupt entry was dropped. */
  readonly onCorrupt: (id: MessageIdData, error: CorruptEntryError) => void;
}

/**
 * Turns the MESSAGE frames of one topic into messages, and grants the permits that bound their
 * number.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #queue: ReceiveQueue<Received>;
  readonly #chunks: ChunkAssembler;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#queue = new ReceiveQueue({
      size: options.queueSize,
      onCorrupt: (entry, error) => this.#onUnopened(entry, error),
    });
    this.#chunks = new ChunkAssembler({ messageBytesMax: options.rules.messageBytesMax });
  }

  get queued(): number {
    return this.#queue.queued;
  }

  /** Throws a `ProtocolError` if the broker ignores its permits. */
  add(command: CommandMessage, bytes: Buffer): void {
    try {
      const raw = readRawEntry(command, bytes);
      if (isChunk(raw)) this.#addChunk(raw);
      else this.#queue.add(new IncomingEntry(this.#options.rules, raw));
    } catch (error) {
      if (!(error instanceof CorruptEntryError)) throw error;
      this.#queue.skip(claimedMessages(bytes));
      this.#options.onCorrupt(entryIdOf(command.messageId), error);
    }
    this.#flow();
  }

  /** A MESSAGE from before a seek or redelivery. It used permits all the same. */
  drop(command: CommandMessage, bytes: Buffer): void {
    this.#queue.skip(this.#permitsOf(command, bytes));
    this.#flow();
  }

  take(): Received | undefined {
    const received = this.#queue.take();
    this.#flow();
    return received;
  }

  /** Attached again: the broker has no permits and redelivers everything. */
  restart(): void {
    this.#queue.reset();
    this.#chunks.clear();
    this.#flow();
  }

  /** The broker redelivers all queued messages on the same connection. */
  clear(): void {
    this.#queue.clear();
    this.#chunks.clear();
    this.#flow();
  }

  pause(): void {
    this.#queue.isPaused = true;
  }

  resume(): void {
    this.#queue.isPaused = false;
    this.#flow();
  }

  #addChunk(raw: RawEntry): void {
    const { rules } = this.#options;
    const assembly = this.#chunks.add(raw);
    switch (assembly.kind) {
      case "complete":
        this.#queue.add(new IncomingEntry(rules, assembly.raw, assembly.chunkIds));
        break;
      case "too-large": {
        const { topic, messageBytesMax } = rules;
        const why = `has ${assembly.sizeBytes} bytes; ${messageBytesMax} are allowed`;
        const messageId = MessageId.of(raw.id);
        const chunkIds = assembly.chunkIds.map((id) => MessageId.of(id));
        this.#queue.add(once(new UnreadableMessageError(why, { topic, messageId, chunkIds })));
        break;
      }
      case "incomplete":
      case "stray":
        this.#queue.skip(1);
    }
  }

  #permitsOf(command: CommandMessage, bytes: Buffer): number {
    try {
      const raw = readRawEntry(command, bytes);
      return isChunk(raw) ? 1 : new IncomingEntry(this.#options.rules, raw).permits;
    } catch (error) {
      if (error instanceof CorruptEntryError) return claimedMessages(bytes);
      throw error;
    }
  }

  #onUnopened(entry: QueuedEntry<Received>, error: unknown): void {
    if (!(error instanceof CorruptEntryError && entry instanceof IncomingEntry)) throw error;
    this.#options.onCorrupt(entry.delivery.id, error);
  }

  #flow(): void {
    const permits = this.#queue.takeFreed();
    if (permits > 0) this.#options.onFlow(permits);
  }
}

/** An entry with one item. */
function once(item: Received): QueuedEntry<Received> {
  let left: Received | undefined = item;
  return {
    permits: 1,
    next: () => {
      const next = left;
      left = undefined;
      return next;
    },
  };
}

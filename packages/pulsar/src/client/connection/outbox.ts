import type { Command } from "../../wire/command.ts";
import { encodeFrame } from "../../wire/frame.ts";
import type { Transport } from "./transport.ts";

/**
 * Replies that wait for a connection to become writable. Raised, a peer that asks and does not read
 * costs more memory; a peer that reads needs a handful.
 */
const REPLIES_MAX = 1_000;

/** Bytes written while not writable, above which the connection is closed: the peer does not read. */
const HELD_BYTES_MAX = 16 * 1_048_576;

/**
 * Everything that a connection writes. SENDs look at `isWritable` first and commands of the client are
 * written all the same. Replies wait in order while the transport is not writable, because the peer
 * decides how many there are.
 */
export class Outbox {
  readonly #onUnread: () => void;
  #transport: Transport | undefined;
  #isWritable = true;
  /** Bytes written since the transport is not writable. */
  #heldBytes = 0;
  #replies: Command[] = [];

  /** `onUnread` is called when the peer does not read and a bound is reached. */
  constructor(onUnread: () => void) {
    this.#onUnread = onUnread;
  }

  get isWritable(): boolean {
    return this.#isWritable;
  }

  open(transport: Transport): void {
    this.#transport = transport;
  }

  /** Later writes do nothing. */
  close(): void {
    this.#transport?.close();
    this.#transport = undefined;
    this.#replies = [];
  }

  write(bytes: Uint8Array): void {
    if (!this.#isWritable) {
      this.#heldBytes += bytes.length;
      if (this.#heldBytes > HELD_BYTES_MAX) this.#onUnread();
    }
    if (this.#transport?.write(bytes) === false) this.#isWritable = false;
  }

  /** A reply that the peer must get. A second PING or PONG is not queued: one says as much as many. */
  reply(command: Command): void {
    const { kind } = command;
    const isSign = kind === "ping" || kind === "pong";
    if (isSign && this.#replies.some((other) => other.kind === kind)) return;
    if (!this.#add(command)) this.#onUnread();
  }

  /**
   * A reply that the peer can do without: dropped if 1,000 replies wait. A broker that has stopped
   * reading may throttle thousands of producers, and closing their connection would only add load; a
   * broker without a receipt pauses the connection as it does for clients that do not know PIP-385.
   */
  receipt(command: Command): void {
    this.#add(command);
  }

  /** The transport is writable again. */
  onDrain(): void {
    this.#isWritable = true;
    this.#heldBytes = 0;
    const replies = this.#replies;
    this.#replies = [];
    for (const reply of replies) this.#add(reply);
  }

  /** Writes the reply or queues it; false if the queue is full. */
  #add(reply: Command): boolean {
    if (this.#isWritable) this.write(encodeFrame(reply));
    else if (this.#replies.length >= REPLIES_MAX) return false;
    else this.#replies.push(reply);
    return true;
  }
}

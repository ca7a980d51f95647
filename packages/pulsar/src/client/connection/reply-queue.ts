import type { Command } from "../../wire/command.ts";

/**
 * Replies that wait for a connection to become writable. Raised, a peer that asks and does not read
 * costs more memory; a peer that reads needs a handful.
 */
const REPLIES_MAX = 1_000;

/**
 * Replies to the broker that came due while the connection was not writable, in order. A second PING or
 * PONG is not queued: one says as much as many.
 */
export class ReplyQueue {
  #replies: Command[] = [];

  /** False if the queue is full: the peer asks for replies and does not read them. */
  add(reply: Command): boolean {
    const isSign = reply.kind === "ping" || reply.kind === "pong";
    if (isSign && this.#replies.some(({ kind }) => kind === reply.kind)) return true;
    if (this.#replies.length >= REPLIES_MAX) return false;
    this.#replies.push(reply);
    return true;
  }

  /** All replies; the queue is empty afterwards. */
  takeAll(): readonly Command[] {
    const replies = this.#replies;
    if (replies.length > 0) this.#replies = [];
    return replies;
  }
}

import { requireWhole } from "@sluice/core/internal";

export interface SendRoomOptions {
  /** Messages in the room, over all partitions. */
  readonly messagesMax: number;
  /** Bytes in the room, over all partitions. */
  readonly bytesMax: number;
}

/** A call that needs room. A call with 0 messages needs none and only waits for its turn. */
export interface RoomWaiter {
  readonly messages: 0 | 1;
  readonly sizeBytes: number;
  /** The room for this call is taken. Must not throw. */
  onAdmitted(): void;
}

/**
 * Bounds the messages of one producer that have no receipt yet, over all its partitions.
 *
 * Of a partitioned topic, a partition with pending messages may grow only up to what is still free:
 * `pending of the partition ≤ messagesMax − pending of all`, and the same for bytes. (Switches with
 * shared memory call this a dynamic threshold.) One stuck partition therefore takes at most half of
 * the room, k stuck partitions leave 1 ÷ (k + 1) of it to the others, and a single busy partition can
 * still use half. A topic without partitions may use all of it.
 *
 * A message that is larger than the whole room is admitted while the room is empty.
 */
export class SendRoom {
  readonly #options: SendRoomOptions;
  /** Partitions with a waiter and nothing pending: only other partitions can make room for these. */
  readonly #starved = new Set<PartitionRoom>();
  #messages = 0;
  #bytes = 0;
  #partitions = 1;
  #isServing = false;
  #mustServeAgain = false;

  constructor(options: SendRoomOptions) {
    requireWhole("pendingMessagesMax", options.messagesMax, 1);
    requireWhole("pendingBytesMax", options.bytesMax, 1);
    this.#options = options;
  }

  /** Messages in the room. */
  get messages(): number {
    return this.#messages;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** With one partition, that partition may use the whole room. */
  set partitions(count: number) {
    this.#partitions = count;
  }

  /** Whether `sizeBytes` more fit for a partition with this much pending. */
  hasRoomFor(sizeBytes: number, { messages, bytes }: PartitionRoom): boolean {
    if (this.#messages === 0) return true;
    const freeMessages = this.#options.messagesMax - this.#messages;
    const freeBytes = this.#options.bytesMax - this.#bytes;
    if (freeMessages < 1 || freeBytes < sizeBytes) return false;
    if (this.#partitions === 1 || messages === 0) return true;
    return messages < freeMessages && bytes + sizeBytes <= freeBytes;
  }

  take(messages: number, bytes: number): void {
    this.#messages += messages;
    this.#bytes += bytes;
  }

  /** Room became free; the partition that freed it has served its own waiters. */
  release(messages: number, bytes: number): void {
    this.#messages -= messages;
    this.#bytes -= bytes;
  }

  setStarved(partition: PartitionRoom, isStarved: boolean): void {
    if (isStarved) this.#starved.add(partition);
    else this.#starved.delete(partition);
  }

  /**
   * Admits waiters of starved partitions. The others are served by their own receipts, so a receipt
   * costs the same with 2 and with 10,000 partitions.
   */
  serveStarved(): void {
    // An admitted call may leave at once; the loop that is running then starts over.
    this.#mustServeAgain = true;
    if (this.#isServing) return;
    this.#isServing = true;
    try {
      while (this.#mustServeAgain && this.#starved.size > 0) {
        this.#mustServeAgain = false;
        for (const partition of this.#starved) partition.admit();
      }
    } finally {
      this.#isServing = false;
    }
  }
}

/**
 * The part of a `SendRoom` that one partition uses, with its waiters: first come, first served, so
 * that the order of a partition holds. There are as many waiters as unsettled calls of `send`.
 */
export class PartitionRoom {
  readonly #room: SendRoom;
  readonly #waiters = new Set<RoomWaiter>();
  #messages = 0;
  #bytes = 0;
  #isAdmitting = false;

  constructor(room: SendRoom) {
    this.#room = room;
  }

  /** Messages of this partition in the room. */
  get messages(): number {
    return this.#messages;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Calls that wait for room. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Whether the next message would have to wait. */
  get isFull(): boolean {
    return this.#waiters.size > 0 || !this.#room.hasRoomFor(1, this);
  }

  /** Admits the call at once if there is room and no waiter; else the call waits. */
  enter(waiter: RoomWaiter): void {
    if (this.#waiters.size === 0 && !this.#isAdmitting && this.#fits(waiter)) {
      this.#take(waiter);
      return;
    }
    this.#waiters.add(waiter);
    this.admit();
  }

  /** Stops waiting; answers whether the call was still a waiter. */
  giveUp(waiter: RoomWaiter): boolean {
    const wasWaiting = this.#waiters.delete(waiter);
    if (wasWaiting) this.admit();
    return wasWaiting;
  }

  /** Messages were stored or have failed. */
  leave(messages: number, bytes: number): void {
    this.#messages -= messages;
    this.#bytes -= bytes;
    this.#room.release(messages, bytes);
    this.admit();
    this.#room.serveStarved();
  }

  /** Admits waiters in order for as long as there is room. */
  admit(): void {
    // An admitted call may leave at once; the loop that admitted it goes on with the next.
    if (this.#isAdmitting) return;
    this.#isAdmitting = true;
    try {
      for (const waiter of this.#waiters) {
        if (!this.#fits(waiter)) break;
        this.#waiters.delete(waiter);
        this.#take(waiter);
      }
    } finally {
      this.#isAdmitting = false;
      this.#room.setStarved(this, this.#waiters.size > 0 && this.#messages === 0);
    }
  }

  #fits({ messages, sizeBytes }: RoomWaiter): boolean {
    return messages === 0 || this.#room.hasRoomFor(sizeBytes, this);
  }

  #take(waiter: RoomWaiter): void {
    this.#messages += waiter.messages;
    this.#bytes += waiter.sizeBytes;
    this.#room.take(waiter.messages, waiter.sizeBytes);
    waiter.onAdmitted();
  }
}

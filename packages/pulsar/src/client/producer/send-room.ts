import { requireWhole } from "@sluice/core/internal";

export interface SendRoomOptions {
  readonly messagesMax: number;
  readonly bytesMax: number;
}

/** Somebody who wants to come in. One with no message and no bytes only waits for its turn. */
export interface Entrant {
  readonly messages: 0 | 1;
  readonly sizeBytes: number;
  /** Its turn has come, and what it takes is taken. Must not throw. */
  onAdmitted(): void;
}

/**
 * How much may be under way at once. Whoever finds no room waits in line, first come, first served;
 * the line is as long as there are callers that wait, each holding a promise.
 *
 * A message that is larger than all the room comes in when nobody else is in.
 */
export class SendRoom {
  readonly #options: SendRoomOptions;
  readonly #line = new Set<Entrant>();
  #messages = 0;
  #bytes = 0;
  #isAdmitting = false;

  constructor(options: SendRoomOptions) {
    requireWhole("pendingMessagesMax", options.messagesMax, 1);
    requireWhole("pendingBytesMax", options.bytesMax, 1);
    this.#options = options;
  }

  /** Messages that are in. */
  get messages(): number {
    return this.#messages;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many wait in line. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Admits at once if there is room and nobody is before; otherwise it joins the line. */
  enter(entrant: Entrant): void {
    this.#line.add(entrant);
    this.#admit();
  }

  /** Leaves the line; answers whether it was in it. */
  giveUp(entrant: Entrant): boolean {
    const wasWaiting = this.#line.delete(entrant);
    if (wasWaiting) this.#admit();
    return wasWaiting;
  }

  /** These have been dealt with. */
  leave(messages: number, bytes: number): void {
    this.#messages -= messages;
    this.#bytes -= bytes;
    this.#admit();
  }

  #admit(): void {
    // Whoever is admitted may leave at once; the loop that admitted it goes on with the next.
    if (this.#isAdmitting) return;
    this.#isAdmitting = true;
    try {
      for (const entrant of this.#line) {
        if (!this.#hasRoomFor(entrant)) return;
        this.#line.delete(entrant);
        this.#messages += entrant.messages;
        this.#bytes += entrant.sizeBytes;
        entrant.onAdmitted();
      }
    } finally {
      this.#isAdmitting = false;
    }
  }

  #hasRoomFor({ messages, sizeBytes }: Entrant): boolean {
    if (this.#messages === 0 || messages === 0) return true;
    const { messagesMax, bytesMax } = this.#options;
    return this.#messages + messages <= messagesMax && this.#bytes + sizeBytes <= bytesMax;
  }
}

import type { MessageId } from "../message/message-id.ts";
import type { PreparedMessage } from "./outgoing-message.ts";
import type { Entrant, SendRoom } from "./send-room.ts";

/** Where a ticket's message goes once there is room. */
export interface TicketTaker {
  /** Must not throw. */
  accept(ticket: SendTicket): void;
}

/** Whoever called `send`. */
export interface Caller {
  readonly resolve: (id: MessageId) => void;
  readonly reject: (reason: unknown) => void;
}

export interface SendTicketOptions {
  readonly message: PreparedMessage;
  readonly deadlineAtMs: number;
  readonly caller: Caller;
}

/**
 * One call of `send`, from the line before the room until the broker's word. There is one for every
 * message, so that it is a single object without closures.
 */
export class SendTicket implements Entrant {
  readonly messages = 1;
  readonly sizeBytes: number;
  readonly message: PreparedMessage;
  readonly deadlineAtMs: number;
  /** Its place in the order, once it has one. */
  sequenceId = 0n;
  readonly #taker: TicketTaker;
  readonly #caller: Caller;
  #stopListening: (() => void) | undefined;

  constructor(taker: TicketTaker, { message, deadlineAtMs, caller }: SendTicketOptions) {
    this.sizeBytes = message.sizeBytes;
    this.message = message;
    this.deadlineAtMs = deadlineAtMs;
    this.#taker = taker;
    this.#caller = caller;
  }

  /** Lets the signal end the wait, and the place in line if it still has only that. */
  listenTo(signal: AbortSignal, room: SendRoom): void {
    const onAbort = (): void => {
      room.giveUp(this);
      this.#caller.reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    this.#stopListening = () => signal.removeEventListener("abort", onAbort);
  }

  onAdmitted(): void {
    this.#taker.accept(this);
  }

  resolve(id: MessageId): void {
    this.#stopListening?.();
    this.#caller.resolve(id);
  }

  reject(reason: unknown): void {
    this.#stopListening?.();
    this.#caller.reject(reason);
  }
}

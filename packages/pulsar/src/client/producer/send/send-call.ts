import { addAbortListener, removeAbortListener } from "@sluice/core/internal";
import type { AbortListener } from "@sluice/core/internal";
import type { MessageId } from "../../message/message-id.ts";
import type { PreparedMessage } from "./outgoing-message.ts";
import type { PartitionRoom, RoomWaiter } from "./send-room.ts";

/** Takes over a call of `send` once there is room for its message. */
export interface SendCallTaker {
  /** Must not throw. */
  accept(call: SendCall): void;
}

export interface SendCallOptions {
  readonly message: PreparedMessage;
  readonly calledAtMs: number;
  /** The producer's throttled time so far. */
  readonly throttledMs: number;
  readonly room: PartitionRoom;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (id: MessageId) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * One call of `send`, from its wait for room to its receipt. There is one per message, hence a single
 * object without closures.
 */
export class SendCall implements RoomWaiter, AbortListener {
  readonly messages = 1;
  readonly sizeBytes: number;
  readonly message: PreparedMessage;
  /** The send timeout counts from here. */
  readonly calledAtMs: number;
  /** The producer's throttled time before the call; the rest of it fell into the wait of this call. */
  readonly throttledMsBefore: number;
  /** Set when the call is accepted: the message's place in the order. */
  sequenceId = 0n;
  readonly #taker: SendCallTaker;
  readonly #options: SendCallOptions;

  constructor(taker: SendCallTaker, options: SendCallOptions) {
    this.sizeBytes = options.message.sizeBytes;
    this.message = options.message;
    this.calledAtMs = options.calledAtMs;
    this.throttledMsBefore = options.throttledMs;
    this.#taker = taker;
    this.#options = options;
    if (options.signal !== undefined) addAbortListener(options.signal, this);
  }

  onAdmitted(): void {
    this.#taker.accept(this);
  }

  /** The caller's signal was aborted: a call that waits for room is withdrawn. */
  handleEvent(): void {
    const { room, signal, reject } = this.#options;
    room.giveUp(this);
    reject(signal?.reason);
  }

  resolve(id: MessageId): void {
    this.#stopListening();
    this.#options.resolve(id);
  }

  reject(reason: unknown): void {
    this.#stopListening();
    this.#options.reject(reason);
  }

  #stopListening(): void {
    const { signal } = this.#options;
    if (signal !== undefined) removeAbortListener(signal, this);
  }
}

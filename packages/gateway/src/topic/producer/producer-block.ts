import type { Clock } from "@sluice/core";
import { RefusalError } from "../../refusal/refusal-error.ts";

export type BlockReason = "storage-full" | "backlog-quota";

/**
 * Milliseconds after which a publish is tried again on a topic that had no room. Only a disk that
 * other programs fill needs it: room that the topic makes itself is tried at once.
 */
const RETRY_MS = 1_000;

/**
 * Whether the producers of a topic are blocked, and why. While they are, publishes are refused. Order
 * does not depend on when a block ends: a producer that was refused once stays blocked until its
 * client opens it again and sends everything from the refused entry on.
 */
export class ProducerBlock {
  readonly #clock: Clock;
  readonly #onChange: (reason: BlockReason | undefined) => void;
  #reason: BlockReason | undefined;
  #retryAtMs = 0;

  /** `onChange` is called when a block begins and when it ends, not for failed retries between. */
  constructor(clock: Clock, onChange: (reason: BlockReason | undefined) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  get reason(): BlockReason | undefined {
    return this.#reason;
  }

  /** Whether publishes are refused now. A block for lack of room lets publishes retry. */
  get isHolding(): boolean {
    if (this.#reason !== "storage-full") return this.#reason !== undefined;
    return this.#clock.now() < this.#retryAtMs;
  }

  begin(reason: BlockReason): void {
    this.#retryAtMs = this.#clock.now() + RETRY_MS;
    if (this.#reason === reason) return;
    this.#reason = reason;
    this.#onChange(reason);
  }

  /** Room was made: the next publish tells whether it is enough. */
  retry(): void {
    this.#retryAtMs = 0;
  }

  /** Ends a block that was for this reason. */
  end(reason: BlockReason): void {
    if (this.#reason !== reason) return;
    this.#reason = undefined;
    this.#onChange(undefined);
  }
}

const MESSAGES: Readonly<Record<BlockReason, string>> = {
  "storage-full": "there is no room to store this",
  "backlog-quota": "the backlog of the topic is over its quota",
};

/** Tells clients to keep what they have and to open the producer again. */
export function blockedRefusal(reason: BlockReason, cause?: unknown): RefusalError {
  return new RefusalError("ProducerBlockedQuotaExceededError", MESSAGES[reason], { cause });
}

/** Tells clients that open a producer to give up, with everything that they have. */
export function quotaException(): RefusalError {
  const message = MESSAGES["backlog-quota"];
  return new RefusalError("ProducerBlockedQuotaExceededException", message);
}

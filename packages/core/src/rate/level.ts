import { requireCount } from "../errors.ts";
import type { Balance } from "./balance.ts";

/** The balances of one limit in messages and bytes; a missing one is unlimited. */
export class Level {
  readonly #messages: Balance | undefined;
  readonly #bytes: Balance | undefined;

  constructor(messages: Balance | undefined, bytes: Balance | undefined) {
    this.#messages = messages;
    this.#bytes = bytes;
  }

  touch(nowMs: number): void {
    this.#messages?.touch(nowMs);
    this.#bytes?.touch(nowMs);
  }

  refresh(nowMs: number): void {
    this.#messages?.refresh(nowMs);
    this.#bytes?.refresh(nowMs);
  }

  /** Takes both if both are there, else none. */
  take(messages: number, bytes: number): boolean {
    if (this.#messages !== undefined && !this.#messages.take(messages)) return false;
    if (this.#bytes === undefined || this.#bytes.take(bytes)) return true;
    this.#messages?.putBack(messages);
    return false;
  }

  putBack(messages: number, bytes: number): void {
    this.#messages?.putBack(messages);
    this.#bytes?.putBack(bytes);
  }

  /** Takes both, into debt if necessary; true while both have at least one token left. */
  takeOnCredit(messages: number, bytes: number): boolean {
    const messagesLeft = this.#messages === undefined || this.#messages.takeOnCredit(messages);
    const bytesLeft = this.#bytes === undefined || this.#bytes.takeOnCredit(bytes);
    return messagesLeft && bytesLeft;
  }

  holds(messages: number, bytes: number, nowMs: number): boolean {
    return (
      (this.#messages === undefined || this.#messages.holds(messages, nowMs)) &&
      (this.#bytes === undefined || this.#bytes.holds(bytes, nowMs))
    );
  }

  hasTokens(nowMs: number): boolean {
    const messages = this.#messages?.tokensAt(nowMs) ?? 1;
    return messages > 0 && (this.#bytes?.tokensAt(nowMs) ?? 1) > 0;
  }

  pauseMs(messages: number, bytes: number, nowMs: number): number {
    return Math.max(
      this.#messages?.pauseMs(messages, nowMs) ?? 0,
      this.#bytes?.pauseMs(bytes, nowMs) ?? 0,
    );
  }

  throttlingDurationMs(nowMs: number): number {
    return Math.max(
      this.#messages?.throttlingDurationMs(nowMs) ?? 0,
      this.#bytes?.throttlingDurationMs(nowMs) ?? 0,
    );
  }
}

/** Checked before any balance is charged, so that a wrong argument changes nothing. */
export function requireCost(method: string, messages: number, bytes: number): void {
  if (messages >>> 0 !== messages) requireCount(`messages of ${method}`, messages);
  if (bytes >>> 0 !== bytes) requireCount(`bytes of ${method}`, bytes);
}

import type { RunContext } from "../run-context.ts";

/** Failed messages of one vertex are told of at most this often, ms; a failing server fails every message. */
const NOTICE_MS = 1000;

/** What becomes of a message that failed. */
export type Fate = "tried-again" | "dead-lettered" | "lost";

/** Tells of failed messages: of each fate the first at once, then one a second with the count of the others. */
export class FailureNotice {
  readonly #context: RunContext;
  readonly #vertex: string;
  readonly #told = new Map<Fate, { readonly atMs: number; others: number }>();

  constructor(context: RunContext, vertex: string) {
    this.#context = context;
    this.#vertex = vertex;
  }

  /** `count` messages failed; this is the first of them. */
  onFailed(messageId: string, error: Error, count: number, fate: Fate): void {
    const { timer, tell, pipeline } = this.#context;
    const nowMs = timer.now();
    const last = this.#told.get(fate);
    if (last !== undefined && nowMs - last.atMs < NOTICE_MS) {
      last.others += count;
      return;
    }
    this.#told.set(fate, { atMs: nowMs, others: 0 });
    tell({
      kind: "message-failed",
      pipeline,
      vertex: this.#vertex,
      messageId,
      error,
      isTriedAgain: fate === "tried-again",
      isDeadLettered: fate === "dead-lettered",
      others: (last?.others ?? 0) + count - 1,
    });
  }
}

import { RetryBudget } from "@sluice/egress";
import type { Batch } from "../../flow/batch.ts";
import { Tries } from "../../flow/tries.ts";
import type { FailedTry, RetryRules } from "../../flow/tries.ts";
import type { Message } from "../../message.ts";
import type { FailureNotice } from "./failure-notice.ts";
import type { GiveUp } from "./give-up.ts";
import { slept } from "../run-context.ts";
import type { RunContext } from "../run-context.ts";
import type { VertexMeter } from "../vertex/vertex-meter.ts";

/** How long a retry waits before it asks an exhausted budget again, ms: the budget brings 10 tries a second. */
const BUDGET_POLL_MS = 100;

interface RetrierParts {
  readonly context: RunContext;
  readonly meter: VertexMeter;
  readonly rules: RetryRules;
  readonly notice: FailureNotice;
  readonly giveUp: GiveUp;
}

/** Tries messages of a batch again. Answers those that failed. */
export type TryAgain = (due: readonly FailedTry[]) => Promise<readonly FailedTry[]>;

/**
 * Tries failed messages of a vertex again. The budget counts calls, not messages: a batch that is tried
 * again is one call. While the budget is exhausted the vertex waits; no message is given up for it.
 */
export class Retrier {
  readonly #parts: RetrierParts;
  readonly #budget: RetryBudget;

  constructor(parts: RetrierParts) {
    this.#parts = parts;
    this.#budget = new RetryBudget(parts.context.timer);
  }

  /** A first try of a batch, at `nowMs`. */
  onFirstTry(nowMs: number): void {
    this.#budget.deposit(nowMs);
  }

  /** Until every message has succeeded or was given up. Answers false if the drain's deadline came first. */
  async run(batch: Batch, failed: readonly FailedTry[], tryAgain: TryAgain): Promise<boolean> {
    const { meter } = this.#parts;
    meter.retrying++;
    try {
      return await this.#run(batch, failed, tryAgain);
    } finally {
      meter.retrying--;
    }
  }

  async #run(batch: Batch, failed: readonly FailedTry[], tryAgain: TryAgain): Promise<boolean> {
    const { context, meter, rules, giveUp } = this.#parts;
    const { timer, cut } = context;
    const tries = new Tries(rules);
    let newly = failed;
    for (;;) {
      meter.counts.failed += newly.length;
      const given = tries.onFailed(newly, timer.now());
      this.#tell(batch, newly, given);
      if (given.length > 0 && !(await giveUp.run(batch, given))) return false;
      if (tries.isEmpty) return true;
      if (!(await slept(timer, tries.nextDueMs - timer.now(), cut))) return false;
      const due = tries.takeDue(timer.now());
      const again: FailedTry[] = [];
      for (const part of this.#partsOf(due)) {
        if (!(await this.#withdraw())) return false;
        meter.counts.retried += part.length;
        again.push(...(await tryAgain(part)));
      }
      if (cut.aborted && again.length > 0) return false;
      newly = again;
    }
  }

  /**
   * Messages that fail together every time may have one poison message among them: for their last try they
   * are taken apart.
   */
  #partsOf(due: readonly FailedTry[]): readonly (readonly FailedTry[])[] {
    const { triesMax } = this.#parts.rules;
    const [first] = due;
    const isLast = first !== undefined && first.tries + 1 >= triesMax;
    const isWhole = due.every(({ failure }) => failure === first?.failure);
    return isLast && isWhole ? due.map((each) => [each]) : [due];
  }

  /** Answers false after the drain's deadline: no further try may begin. */
  async #withdraw(): Promise<boolean> {
    const { timer, cut } = this.#parts.context;
    if (cut.aborted) return false;
    while (!this.#budget.tryWithdraw())
      if (!(await slept(timer, BUDGET_POLL_MS, cut))) return false;
    return true;
  }

  #tell(batch: Batch, failed: readonly FailedTry[], given: readonly FailedTry[]): void {
    const again = failed.find((each) => !given.includes(each));
    if (again === undefined) return;
    this.#parts.meter.onFailed(again.failure.error.message);
    const { id } = batch.messages[again.index] as Message;
    const count = failed.length - given.length;
    this.#parts.notice.onFailed(id, again.failure.error, count, "tried-again");
  }
}

/** A message that could not be processed in one try. */
interface Failure {
  readonly error: Error;
  readonly isRetriable: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** A message of a batch that failed, with the number of tries it had. */
export interface FailedTry {
  /** Its place in the batch. */
  readonly index: number;
  readonly tries: number;
  readonly failure: Failure;
}

/** How often and when a vertex tries again. */
export interface RetryRules {
  /** Tries of one message, the first included; Infinity: until it succeeds. */
  readonly triesMax: number;
  /** Pause before the try after `tries` others, ms, with jitter. */
  backoffMs(tries: number): number;
}

interface Pending extends FailedTry {
  readonly dueMs: number;
}

/** The messages of one batch that wait for another try. It waits for nothing itself: a loop asks what is due when. */
export class Tries {
  readonly #rules: RetryRules;
  #pending: readonly Pending[] = [];

  constructor(rules: RetryRules) {
    this.#rules = rules;
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** When the first message is due; Infinity if none waits. */
  get nextDueMs(): number {
    return this.#pending.reduce((first, { dueMs }) => Math.min(first, dueMs), Infinity);
  }

  /** Takes what failed in one try. Answers the messages that are not tried again. */
  onFailed(failed: readonly FailedTry[], nowMs: number): readonly FailedTry[] {
    const isLast = ({ tries, failure }: FailedTry): boolean =>
      !failure.isRetriable || tries >= this.#rules.triesMax;
    // One draw for messages that failed together, so that they are tried again in one batch.
    const pauses = new Map<number, number>();
    const pauseMs = (tries: number): number => {
      const drawn = pauses.get(tries) ?? this.#rules.backoffMs(tries);
      pauses.set(tries, drawn);
      return drawn;
    };
    const again = failed
      .filter((each) => !isLast(each))
      .map((each) => {
        const waitMs = Math.max(pauseMs(each.tries), each.failure.retryAfterMs ?? 0);
        return { ...each, dueMs: nowMs + waitMs };
      });
    this.#pending = [...this.#pending, ...again];
    return failed.filter(isLast);
  }

  /** Removes the messages that are due, in the order of the batch. */
  takeDue(nowMs: number): readonly FailedTry[] {
    const due = this.#pending.filter(({ dueMs }) => dueMs <= nowMs);
    this.#pending = this.#pending.filter(({ dueMs }) => dueMs > nowMs);
    return due.toSorted((a, b) => a.index - b.index);
  }
}

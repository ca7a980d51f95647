/**
 * What one answer says of one limit of the peer. All times are durations from the answer on, because the
 * clocks of peer and gate differ; a reader of dates converts them.
 */
export interface Hint {
  /** The rate that the peer speaks of, such as `requests` or `tokens`. Default: all calls. */
  readonly rate?: string;
  /**
   * Every call counts against this limit, as against one of requests: a gate without a rate of this name
   * then pauses all calls. Default: false, and such a gate pauses only if the answer was a refusal.
   */
  readonly isOfEveryCall?: boolean;
  /** The peer's limit per its own period. */
  readonly limit?: number;
  /** What is left until the reset. */
  readonly remaining?: number;
  /** Until the limit is whole again, in ms. */
  readonly resetMs?: number;
  /**
   * The limit refills bit by bit until it is whole, as those of OpenAI and Anthropic do: the first part is
   * back after `resetMs / limit`. Default: false, nothing is back before the reset.
   */
  readonly isGradual?: boolean;
  /** The time in which no call should come, in ms. It beats `resetMs`. */
  readonly retryAfterMs?: number;
}

/** How long the hint asks to send nothing, in ms; undefined if it does not. */
export function pauseOf(hint: Hint): number | undefined {
  const { retryAfterMs, remaining, resetMs, isGradual = false, limit = Infinity } = hint;
  if (retryAfterMs !== undefined) return retryAfterMs;
  if (remaining !== 0 || resetMs === undefined) return undefined;
  return isGradual ? Math.ceil(resetMs / Math.max(1, limit)) : resetMs;
}

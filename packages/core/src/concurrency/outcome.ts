/**
 * How an attempt ended, as far as the peer's capacity is concerned.
 *
 * - `ok`: it was served; its time counts.
 * - `busy`: the peer refused it for its load; its time says nothing of service.
 * - `failed`: it broke or timed out; so it may be load, and is counted as that.
 * - `ignored`: it tells nothing, such as an attempt that the caller gave up.
 */
export type Outcome = "ok" | "busy" | "failed" | "ignored";

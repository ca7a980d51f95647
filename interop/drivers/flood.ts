/** Several producers of one client, each as fast as it may or at a steady rate, for a given time. */

/** What one producer of the client sends. */
export interface FloodFlow {
  readonly topic: string;
  /** Messages per second; without it the producer sends whenever its client lets it. */
  readonly ratePerSecond?: number;
  /** Delay of the producer's start after the others, in milliseconds; 0 unless given. */
  readonly fromMs?: number;
  readonly sizeBytes: number;
  /** With the client's own settings of batches. */
  readonly batching: boolean;
  /** Messages without a receipt, beyond which `send` waits; without it the client's own bound holds. */
  readonly maxPending?: number;
}

export interface FloodCommand {
  readonly flows: readonly FloodFlow[];
  readonly durationMs: number;
  readonly token?: string;
  /** The file of the CA to trust, for pulsar+ssl://. */
  readonly caFile?: string;
}

/** What became of one flow. The outcome comes when every message has its receipt or has failed. */
export interface FloodedFlow {
  readonly sent: number;
  readonly failed: number;
  /** The first failure; empty if there was none. */
  readonly error: string;
  /** When each receipt came, in milliseconds from the first send of all flows. */
  readonly receiptAtMs: readonly number[];
  /** From the call of send to the receipt, in the same order. */
  readonly latencyMs: readonly number[];
}

export interface FloodOutcome {
  readonly flows: readonly FloodedFlow[];
}

/** Receipts per second in a part of the time. */
export function receiptRate({ receiptAtMs }: FloodedFlow, fromMs: number, untilMs: number): number {
  const count = receiptAtMs.filter((atMs) => atMs >= fromMs && atMs < untilMs).length;
  return (count * 1_000) / (untilMs - fromMs);
}

/** Receipts per second from one receipt to another, or to the last; the first receipt must be there. */
export function rateBetween({ receiptAtMs }: FloodedFlow, first: number, until: number): number {
  const sorted = receiptAtMs.toSorted((a, b) => a - b);
  const last = Math.min(until, sorted.length - 1);
  return ((last - first) * 1_000) / ((sorted[last] ?? Number.NaN) - (sorted[first] ?? Number.NaN));
}

/** The latency that 99 % of the messages sent in a part of the time do not exceed. */
export function latencyP99(
  { receiptAtMs, latencyMs }: FloodedFlow,
  fromMs: number,
  untilMs: number,
): number {
  const sorted = latencyMs
    .filter((ms, index) => {
      const sentAtMs = (receiptAtMs[index] ?? 0) - ms;
      return sentAtMs >= fromMs && sentAtMs < untilMs;
    })
    .toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN;
}

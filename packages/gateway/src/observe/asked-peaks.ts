import type { WaitingProducer, WaitingSnapshot, WaitingTopic } from "./waiting.ts";

/** The rate of a shorter time is one burst: a client that sends 50 messages every 20 ms would read as 25,000/s. */
const MEASURED_MS = 250;

/** A producer that has not waited for this long begins anew. */
const FORGET_MS = 1_000;

interface Peak {
  readonly sinceMs: number;
  lastMs: number;
  asked: number;
}

/**
 * Remembers the most that each producer asked for during its wait. A client that waits fills its window and then
 * sends only as fast as it is served, so its present rate says what it gets, not what it asks for.
 */
export class AskedPeaks {
  readonly #peaks = new Map<string, Peak>();

  /** The snapshot with the peaks; bounded by the producers that snapshots list. */
  seen(snapshot: WaitingSnapshot, nowMs: number): WaitingSnapshot {
    const topics = snapshot.topics.map((waiting) => ({
      ...waiting,
      producers: waiting.producers.map((producer) => this.#withPeak(waiting, producer, nowMs)),
    }));
    for (const [key, { lastMs }] of this.#peaks)
      if (nowMs - lastMs > FORGET_MS) this.#peaks.delete(key);
    return { ...snapshot, topics };
  }

  #withPeak({ topic }: WaitingTopic, producer: WaitingProducer, nowMs: number): WaitingProducer {
    const key = `${topic} ${producer.address} ${producer.name}`;
    const peak = this.#peakOf(key, nowMs);
    peak.lastMs = nowMs;
    const { asked } = producer;
    if (asked !== undefined && nowMs - peak.sinceMs >= MEASURED_MS)
      peak.asked = Math.max(peak.asked, asked);
    return peak.asked > (asked ?? 0) ? { ...producer, asked: peak.asked } : producer;
  }

  #peakOf(key: string, nowMs: number): Peak {
    const known = this.#peaks.get(key);
    if (known !== undefined && nowMs - known.lastMs <= FORGET_MS) return known;
    const peak = { sinceMs: nowMs, lastMs: nowMs, asked: 0 };
    this.#peaks.set(key, peak);
    return peak;
  }
}

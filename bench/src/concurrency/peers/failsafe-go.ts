import type { LimitAlgorithm, LimitDecision, EndedAttempt } from "@sluice/core";
import { clampLimit } from "./bounds.ts";
import type { PeerBounds } from "./bounds.ts";
import { CorrelationWindow } from "./correlation-window.ts";
import { decided, rttMsOf } from "./decision.ts";
import { logStep } from "./log-step.ts";
import { MedianFilter } from "./median-filter.ts";
import { QuantileWindow } from "./quantile-window.ts";
import { WarmAverage } from "./warm-average.ts";

/**
 * failsafe-go's adaptive limiter: once a second, after at least 50 answers, their smoothed 90th
 * percentile against its own slower average says how much of the limit queues. When the limit is
 * full it also steps back if more in flight went with less throughput, or with longer round trips
 * and no more throughput. Errors are answers like any other.
 *
 * Defaults: starts at 20, from 1 to 200.
 */
export class FailsafeGoLimit implements LimitAlgorithm {
  readonly #bounds: PeerBounds;
  readonly #window = new QuantileWindow();
  readonly #median = new MedianFilter(SMOOTHED_COUNT);
  readonly #recent = new WarmAverage(SMOOTHED_COUNT, WARM_UP_COUNT);
  readonly #baseline = new WarmAverage(BASELINE_AGE, WARM_UP_COUNT);
  readonly #throughput = new CorrelationWindow(CORRELATION_COUNT, WARM_UP_COUNT);
  readonly #rtt = new CorrelationWindow(CORRELATION_COUNT, WARM_UP_COUNT);
  #limit: number;
  #rttLowestMs: number | undefined;
  #inFlightMax = 0;
  #nextUpdateAtMs = 0;

  constructor(bounds: Partial<PeerBounds> = {}) {
    this.#bounds = { initialLimit: 20, minLimit: 1, maxLimit: 200, ...bounds };
    this.#limit = clampLimit(this.#bounds.initialLimit, this.#bounds);
  }

  get limit(): number {
    return this.#limit;
  }

  pauseMs(): number {
    return 0;
  }

  onStart(): void {
    // It looks at answers only.
  }

  onEnd(sample: EndedAttempt): LimitDecision | undefined {
    const { endedAtMs, outcome, inFlightAtStart, inFlight } = sample;
    if (outcome === "ignored") return undefined;
    const rttMs = rttMsOf(sample);
    this.#window.add(rttMs);
    this.#rttLowestMs = Math.min(rttMs, this.#rttLowestMs ?? rttMs);
    this.#inFlightMax = Math.max(inFlightAtStart, this.#inFlightMax);
    if (endedAtMs <= this.#nextUpdateAtMs || this.#window.count < COUNT_MIN) return undefined;
    const limitBefore = this.#limit;
    const recentMs = this.#recent.add(this.#median.add(this.#window.take(QUANTILE)));
    // What ends now still holds its permit when the decision is taken.
    const change = this.#change(recentMs, inFlight + 1 >= limitBefore);
    this.#limit = clampLimit(limitBefore + change, this.#bounds);
    const windowMs = Math.max(2 * this.#rttLowestMs, WINDOW_MIN_MS);
    this.#nextUpdateAtMs = endedAtMs + Math.min(windowMs, WINDOW_MAX_MS);
    this.#rttLowestMs = undefined;
    this.#inFlightMax = 0;
    return decided({ limitBefore, limit: this.#limit, rttMs: recentMs });
  }

  #change(recentMs: number, isFull: boolean): number {
    const inFlight = this.#inFlightMax;
    const queue = Math.ceil(this.#limit * (1 - this.#baseline.add(recentMs) / recentMs));
    const throughput = this.#throughput.add(inFlight, inFlight / recentMs);
    const rtt = this.#rtt.add(inFlight, recentMs);
    const step = logStep(this.#limit);
    const isFlat = throughput.correlation < 0.3 || throughput.variationOfY < 0.2;
    const isOverloaded = throughput.correlation < 0 || (isFlat && rtt.correlation > 0.5);
    if (queue > 6 * step || (isFull && isOverloaded)) return -step;
    const change = queue < 3 * step ? step : 0;
    return this.#limit + change > IN_USE_FACTOR * inFlight ? -step : change;
  }
}

const SMOOTHED_COUNT = 5;
const WARM_UP_COUNT = 10;
const BASELINE_AGE = 10;
const CORRELATION_COUNT = 50;
const QUANTILE = 0.9;
const COUNT_MIN = 50;
const WINDOW_MIN_MS = 1000;
const WINDOW_MAX_MS = 30_000;
const IN_USE_FACTOR = 5;

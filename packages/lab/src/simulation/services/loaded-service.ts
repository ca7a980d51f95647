import type { Random } from "@sluice/core";
import { drawExponential } from "../engine/draw.ts";
import type { EventLoop } from "../engine/event-loop.ts";
import { Arrivals } from "./service.ts";
import type { Answer, Service } from "./service.ts";

/**
 * Highest factor on the delay. The power of a knee would overflow; such an attempt times out
 * anyway.
 */
const SLOWDOWN_MAX = 1e12;

/** How one kind of load, attempts in flight or attempts a second, changes the answers. */
export interface LoadResponse {
  /** Slower by this part of the delay for each attempt after the first. */
  readonly scale: number;
  /** Load above which the delay also grows by a factor per attempt; 0: no knee. */
  readonly kneeStart: number;
  /** The factor; 0: 1 + scale. */
  readonly kneeExp: number;
  /** Load above which `action` is taken; 0: no limit. */
  readonly limit: number;
  readonly action: "defer" | "drop";
}

export interface LoadedServiceOptions {
  readonly delayMs: number;
  /** Mean of an exponential part that is added, as a part of the delay. */
  readonly jitter: number;
  readonly concurrency: LoadResponse;
  readonly rate: LoadResponse;
  /** Delay of a busy answer. Default: `delayMs`. */
  readonly rejectMs: number | undefined;
}

/**
 * A service without a queue that becomes slower, answers busy or drops attempts as its load grows.
 *
 * @example
 * const none = { scale: 0, kneeStart: 0, kneeExp: 0, limit: 0, action: "defer" } as const;
 * const service = new LoadedService(loop, new SeededRandom(1), {
 *   delayMs: 100,
 *   jitter: 0.1,
 *   concurrency: { ...none, limit: 50 }, // busy above 50 in flight
 *   rate: none,
 *   rejectMs: 5,
 * });
 * service.arrive((answer) => console.log(answer)); // "ok" or "busy", in virtual time
 */
export class LoadedService implements Service {
  readonly seen: Arrivals = new Arrivals();
  readonly #loop: EventLoop;
  readonly #random: Random;
  readonly #options: LoadedServiceOptions;

  constructor(loop: EventLoop, random: Random, options: LoadedServiceOptions) {
    this.#loop = loop;
    this.#random = random;
    this.#options = options;
  }

  arrive(answer: Answer): void {
    const { delayMs, concurrency, rate, rejectMs = delayMs } = this.#options;
    const load = this.seen.enter(this.#loop.now());
    const action = actionOn(concurrency, load.level) ?? actionOn(rate, load.rate);
    if (action === "drop") {
      this.seen.leave(this.#loop.now());
      return;
    }
    if (action === "defer") {
      this.#answerAfter(rejectMs * (1 + this.#jitter()), "busy", answer);
      return;
    }
    const slowdown = Math.min(
      SLOWDOWN_MAX,
      slowdownOf(concurrency, load.level) + slowdownOf(rate, load.rate),
    );
    this.#answerAfter(delayMs * (1 + slowdown + this.#jitter()), "ok", answer);
  }

  #jitter(): number {
    const { jitter } = this.#options;
    return jitter === 0 ? 0 : jitter * drawExponential(this.#random);
  }

  #answerAfter(delayMs: number, what: "ok" | "busy", answer: Answer): void {
    this.#loop.after(delayMs, () => {
      this.seen.leave(this.#loop.now());
      answer(what);
    });
  }
}

function actionOn({ limit, action }: LoadResponse, load: number): "defer" | "drop" | undefined {
  return limit > 0 && load > limit ? action : undefined;
}

function slowdownOf({ scale, kneeStart, kneeExp }: LoadResponse, load: number): number {
  const linear = (load - 1) * scale;
  if (kneeStart === 0) return linear;
  return linear + (kneeExp === 0 ? scale + 1 : kneeExp) ** Math.max(0, load - kneeStart) - 1;
}

import type { Clock, Timer } from "@sluice/core";
import type { PartEvent } from "@sluice/gateway";
import type { CollectMetrics, Labels } from "@sluice/gateway/admin";
import { shownUrl } from "../pipelines/define/shown-url.ts";
import { OtlpMetrics } from "./otlp-metrics.ts";
import type { OtlpFrame } from "./otlp-metrics.ts";
import type { OtlpSettings } from "./otlp-settings.ts";

/** An answer of a receiver. */
export interface OtlpAnswer {
  readonly status: number;
  readonly body: string;
}

/** Sends one export; rejects without an answer, and when the signal says so. */
export type SendOtlp = (body: string, signal: AbortSignal) => Promise<OtlpAnswer>;

export interface OtlpWorld {
  readonly collect: CollectMetrics;
  readonly send: SendOtlp;
  readonly timer: Timer;
  readonly wallClock: Clock;
  readonly scope: OtlpFrame["scope"];
  /** Tells this process from others of the same service. */
  readonly instance: Labels;
  readonly tell: (event: PartEvent) => void;
}

/**
 * Exports all metrics at an interval, and once more when it is closed. A failed export is not repeated: counters are
 * cumulative, so the next export holds everything. One event tells that exports fail, one that they arrive again.
 */
export class OtlpExporter {
  readonly #settings: OtlpSettings;
  readonly #world: OtlpWorld;
  readonly #startTimeUnixNano: string;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #isLost = false;

  constructor(settings: OtlpSettings, world: OtlpWorld) {
    this.#settings = settings;
    this.#world = world;
    this.#startTimeUnixNano = nanosOf(world.wallClock);
    this.#running = this.#run();
  }

  /** Gives up an export that is under way, and exports a last time, within the time-out. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#export();
  }

  async #run(): Promise<void> {
    const { timer } = this.#world;
    const { signal } = this.#closing;
    for (;;) {
      await timer.sleep(this.#settings.intervalMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      await this.#export(signal);
    }
  }

  async #export(givenUp?: AbortSignal): Promise<void> {
    const failure = await this.#tryExport(givenUp);
    if (givenUp?.aborted === true) return;
    if ((failure !== undefined) === this.#isLost) return;
    this.#isLost = failure !== undefined;
    const url = shownUrl(this.#settings.url);
    this.#world.tell(
      failure === undefined
        ? { kind: "flow-telemetry-back", subject: url, text: `metrics reach ${url} again` }
        : {
            kind: "flow-telemetry-lost",
            subject: url,
            text: `metrics do not reach ${url}: ${failure}; exports go on every ${this.#settings.intervalMs} ms`,
          },
    );
  }

  /** Why the export failed; undefined if it did not. */
  async #tryExport(givenUp: AbortSignal | undefined): Promise<string | undefined> {
    const { collect, send, timer, wallClock, scope, instance } = this.#world;
    const { resource, timeoutMs } = this.#settings;
    const ended = new AbortController();
    const giveUp = (): void => ended.abort();
    givenUp?.addEventListener("abort", giveUp);
    try {
      const metrics = new OtlpMetrics({
        resource: { ...instance, ...resource },
        scope,
        startTimeUnixNano: this.#startTimeUnixNano,
        timeUnixNano: nanosOf(wallClock),
      });
      await collect(metrics);
      const late = timer
        .sleep(timeoutMs, ended.signal)
        .then(() => Promise.reject(new Error(`no answer within ${timeoutMs} ms`)));
      return failureOf(
        await Promise.race([late, send(JSON.stringify(metrics.toJson()), ended.signal)]),
      );
    } catch (error) {
      return messageOf(error);
    } finally {
      givenUp?.removeEventListener("abort", giveUp);
      ended.abort();
    }
  }
}

/** Characters of a receiver's text that are shown. */
const SHOWN_MAX = 200;

function failureOf({ status, body }: OtlpAnswer): string | undefined {
  if (status < 200 || status > 299) return `it answered ${status}`;
  const { partialSuccess } = partialOf(body);
  const rejected = Number(partialSuccess?.rejectedDataPoints ?? 0);
  if (!(rejected > 0)) return undefined;
  const { errorMessage } = partialSuccess ?? {};
  const why = typeof errorMessage === "string" ? `: ${errorMessage.slice(0, SHOWN_MAX)}` : "";
  return `it rejected ${rejected} data points${why}`;
}

interface PartialAnswer {
  readonly partialSuccess?: {
    readonly rejectedDataPoints?: unknown;
    readonly errorMessage?: unknown;
  };
}

/** A receiver may answer without a body, or in protobuf. */
function partialOf(body: string): PartialAnswer {
  try {
    return (JSON.parse(body) ?? {}) as PartialAnswer;
  } catch {
    return {};
  }
}

/** `fetch failed` has its reason in `cause`. */
function messageOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}

function nanosOf(wallClock: Clock): string {
  return `${Math.round(wallClock.now())}000000`;
}

import type { Timer } from "@sluice/core";
import type { LiveMessages } from "../../../src/live/live-message.ts";
import { retryDelayMs } from "./backoff.ts";
import { SseParser } from "./sse-parser.ts";

/** An event of `/api/live`, by its name. */
export type LiveEvent = {
  readonly [Name in keyof LiveMessages]: { readonly name: Name; readonly data: LiveMessages[Name] };
}[keyof LiveMessages];

/** What the stream tells of its connection. */
export type StreamState =
  | { readonly kind: "connecting" }
  | { readonly kind: "open" }
  /** The server wants a token, or another one. */
  | { readonly kind: "unauthorized" }
  | { readonly kind: "waiting"; readonly nextAtMs: number };

export interface LiveStreamOptions {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly timer: Timer;
  /** Query and token at the time of each try. */
  readonly request: () => { readonly url: string; readonly headers: Record<string, string> };
  readonly onEvent: (event: LiveEvent) => void;
  readonly onState: (state: StreamState) => void;
}

/** Samples come twice a second; a connection that is silent for this long is dead, ms. */
const SILENCE_MS = 4_000;

const NAMES: ReadonlySet<string> = new Set<keyof LiveMessages>([
  "hello",
  "past",
  "changes",
  "sample",
  "missed",
  "change",
  "topic",
  "pool",
  "poolPast",
]);

/** Reads `/api/live` for as long as the page is open, and connects again when the connection ends. */
export class LiveStream {
  readonly #options: LiveStreamOptions;
  #again = new AbortController();
  #isStopped = false;

  constructor(options: LiveStreamOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    let failures = 0;
    while (!this.#isStopped) {
      this.#again = new AbortController();
      const { signal } = this.#again;
      this.#options.onState({ kind: "connecting" });
      const end = await this.#read(signal);
      // Asked for by `restart`: at once, and not a failure.
      if (signal.aborted && signal.reason === RESTART) continue;
      failures = end === "had events" ? 1 : failures + 1;
      await this.#pause(failures, end === "unauthorized");
    }
  }

  /** Connects again at once: the query or the token has changed, or somebody does not want to wait. */
  restart(): void {
    this.#again.abort(RESTART);
  }

  stop(): void {
    this.#isStopped = true;
    this.#again.abort(RESTART);
  }

  async #pause(failures: number, isUnauthorized: boolean): Promise<void> {
    const { timer, onState } = this.#options;
    // The old one may be aborted: the connection was silent.
    this.#again = new AbortController();
    const { signal } = this.#again;
    const delayMs = retryDelayMs(failures);
    onState(
      isUnauthorized
        ? { kind: "unauthorized" }
        : { kind: "waiting", nextAtMs: timer.now() + delayMs },
    );
    // Without a token a new try would fail too: `restart` follows when there is one.
    await timer.sleep(isUnauthorized ? 24 * 3_600_000 : delayMs, signal).catch(() => undefined);
  }

  async #read(signal: AbortSignal): Promise<"had events" | "none" | "unauthorized"> {
    const { fetch, request } = this.#options;
    const { url, headers } = request();
    let end: "had events" | "none" = "none";
    const silence = new Silence(this.#options.timer, SILENCE_MS, () => this.#again.abort());
    try {
      const response = await fetch(url, {
        headers: { accept: "text/event-stream", ...headers },
        cache: "no-store",
        signal,
      });
      if (response.status === 401 || response.status === 403) return "unauthorized";
      if (!response.ok || response.body === null) return "none";
      const parser = new SseParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return end;
        silence.heard();
        for (const { name, data } of parser.push(value)) {
          if (!NAMES.has(name)) continue;
          if (end === "none") this.#options.onState({ kind: "open" });
          end = "had events";
          const read: unknown = JSON.parse(data);
          this.#options.onEvent({ name, data: read } as LiveEvent);
        }
      }
    } catch {
      return end;
    } finally {
      silence.end();
    }
  }
}

const RESTART = "restart";

/** Calls back once when nothing was heard for a time. It sleeps on when something was: hearing costs no timer. */
class Silence {
  readonly #timer: Timer;
  readonly #ms: number;
  readonly #end = new AbortController();
  #heardAtMs: number;

  constructor(timer: Timer, ms: number, onSilence: () => void) {
    this.#timer = timer;
    this.#ms = ms;
    this.#heardAtMs = timer.now();
    this.#untilSilent().then(onSilence, () => undefined);
  }

  heard(): void {
    this.#heardAtMs = this.#timer.now();
  }

  end(): void {
    this.#end.abort();
  }

  async #untilSilent(): Promise<void> {
    for (let leftMs = this.#ms; leftMs > 0; leftMs = this.#heardAtMs + this.#ms - this.#timer.now())
      await this.#timer.sleep(leftMs, this.#end.signal);
  }
}

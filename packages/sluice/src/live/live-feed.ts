import type { Clock, Timer } from "@sluice/core";
import type { EventFeed } from "@sluice/gateway/admin";
import type { LiveDetails, Looked } from "./detail/live-details.ts";
import type { LiveSampler } from "./sample/live-sampler.ts";
import { foldChange } from "./fold-changes.ts";
import { liveChange } from "./live-change.ts";
import type { LiveChange } from "./live-message.ts";
import { packSample } from "./packed-sample.ts";
import { LiveHistory } from "./stream/live-history.ts";
import type { LiveStream } from "./stream/live-stream.ts";

/** Time between two samples, ms. Halved, the history of five minutes takes twice the memory. */
export const SAMPLE_MS = 500;

/** Samples between two heartbeats: 15 s, below the idle time-outs of usual proxies. Samples keep a stream alive too. */
const BEAT_SAMPLES = 30;

export interface FeedWorld {
  readonly timer: Timer;
  readonly wallClock: Clock;
  readonly events: EventFeed;
  readonly onError: (error: unknown) => void;
}

/** Samples twice a second, keeps the last five minutes, and tells all pages. */
export class LiveFeed {
  readonly history: LiveHistory = new LiveHistory();
  readonly #sampler: LiveSampler;
  readonly #details: LiveDetails;
  readonly #world: FeedWorld;
  readonly #streams = new Map<LiveStream, Looked>();
  #changes: readonly LiveChange[] = [];
  readonly #stopped = new AbortController();
  readonly #unlisten: () => void;
  readonly #running: Promise<void>;
  readonly #failing = new Set<"sample" | "details">();

  constructor(sampler: LiveSampler, details: LiveDetails, world: FeedWorld) {
    this.#sampler = sampler;
    this.#details = details;
    this.#world = world;
    this.#unlisten = world.events.listen((event) => {
      const change = liveChange(event);
      if (change !== undefined) this.#tell(change);
    }, 0);
    this.#running = this.#run();
  }

  /** Pages that read. */
  get pages(): number {
    return this.#streams.size;
  }

  /** The past of the pool that a page looks at, each look as JSON, oldest first. */
  poolPast({ pool }: Looked): readonly string[] {
    return pool === undefined ? [] : this.#details.poolPast(pool);
  }

  /** The latest changes as JSON, oldest first. */
  get changes(): readonly string[] {
    return this.#changes.map((change) => JSON.stringify(change)).toReversed();
  }

  /** From now on the stream gets every sample and change. Answers how to stop. */
  join(stream: LiveStream, looked: Looked): () => void {
    this.#streams.set(stream, looked);
    return () => void this.#streams.delete(stream);
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    this.#unlisten();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { timer } = this.#world;
    const { signal } = this.#stopped;
    for (let samples = 0; !signal.aborted; samples++) {
      this.#sample();
      if (samples % BEAT_SAMPLES === 0) for (const stream of this.#streams.keys()) stream.beat();
      await timer.sleep(SAMPLE_MS, signal).catch(() => undefined);
    }
  }

  #sample(): void {
    const instant = this.#tried("sample", () => this.#sampler.sample(this.#world.wallClock.now()));
    if (instant === undefined) return;
    this.history.push(JSON.stringify(packSample(instant.live)));
    const streams = [...this.#streams];
    const looks = streams.map(([, looked]) => looked);
    const details = this.#tried("details", () => this.#details.read(instant, looks));
    for (const [index, [stream]] of streams.entries()) stream.sample(details?.[index] ?? []);
  }

  /** What cannot be read leaves a gap: the flow does not depend on the page. Told once until it succeeds again. */
  #tried<T>(what: "sample" | "details", read: () => T): T | undefined {
    try {
      const result = read();
      this.#failing.delete(what);
      return result;
    } catch (error) {
      if (!this.#failing.has(what)) this.#world.onError(error);
      this.#failing.add(what);
      return undefined;
    }
  }

  #tell(change: LiveChange): void {
    this.#changes = foldChange(this.#changes, change);
    if (this.#streams.size === 0) return;
    const json = JSON.stringify(change);
    for (const stream of this.#streams.keys()) stream.change(json);
  }
}

import { InvariantError } from "@sluice/core";
import { asError } from "../../as-error.ts";
import { SinkClosedError } from "../../connector/connector-error.ts";
import { decode } from "../../connector/format.ts";
import type { Format } from "../../connector/format.ts";
import { END } from "../../connector/source.ts";
import type { Source } from "../../connector/source.ts";
import type { VertexSettings } from "../../definition/vertex-settings.ts";
import type { Batch } from "../../flow/batch.ts";
import { Origin } from "../../flow/origin.ts";
import type { FailedTry } from "../../flow/tries.ts";
import type { Message } from "../../message.ts";
import type { Acknowledger } from "./acknowledger.ts";
import { backoffMs } from "../failure/backoff.ts";
import { Backlog } from "./backlog.ts";
import type { Channel } from "./channel.ts";
import type { GiveUp } from "../failure/give-up.ts";
import type { VertexWaiting, VertexWork } from "../pipeline-state.ts";
import type { ReadLimit } from "../limit/read-limit.ts";
import { slept } from "../run-context.ts";
import type { RunContext } from "../run-context.ts";
import type { VertexLoop } from "./vertex.ts";
import type { VertexMeter } from "./vertex-meter.ts";
import { Wakeup } from "./wakeup.ts";

/** Longest wait for messages of one read, ms. */
const WAIT_MS = 1000;
/** The same where the read holds tokens, ms: an idle source gives them back after this. */
const WAIT_WITH_TOKENS_MS = 100;
/** Reads, and messages, until other work of the event loop gets its turn: sources in memory never wait for I/O. */
const TURN_READS = 16;
const TURN_MESSAGES = 2000;

const BACKOFF = { firstMs: 100, maxMs: 10_000 };

interface SourceReaderParts {
  readonly context: RunContext;
  readonly vertex: string;
  readonly source: Source;
  readonly format: Format | undefined;
  readonly output: Channel;
  /** The name of the vertex behind `output`. */
  readonly next: string;
  readonly limit: ReadLimit;
  readonly meter: VertexMeter;
  readonly settings: () => VertexSettings;
  readonly acknowledger: Acknowledger;
  readonly giveUp: GiveUp;
}

/** Reads the source while the buffer behind it has room for a whole read. */
export class SourceReader implements VertexLoop {
  readonly #parts: SourceReaderParts;
  readonly #inFlight = new Set<Batch>();
  #readsOfTurn = 0;
  #messagesOfTurn = 0;
  readonly #backlog: Backlog;
  readonly #ended = new Wakeup();
  #isReading = false;
  #waitingSinceMs: number | undefined;
  /** The reads that failed since the last one that did not. */
  #failing:
    | { readonly error: Error; readonly sinceMs: number; readonly untilMs: number }
    | undefined;

  constructor(parts: SourceReaderParts) {
    this.#parts = parts;
    const { source, context } = parts;
    this.#backlog = new Backlog(source, context.timer, context.stopped);
  }

  /** Poison messages that are on their way to the dead-letter sink. */
  get inFlight(): ReadonlySet<Batch> {
    return this.#inFlight;
  }

  queue(): number | undefined {
    return this.#backlog.latest();
  }

  /** A source that has nothing to read works on nothing. */
  work(): VertexWork | undefined {
    return undefined;
  }

  why(): VertexWaiting | undefined {
    // Reads that failed before are not tried again while there is no room.
    if (this.#waitingSinceMs !== undefined) return this.#whyNoRoom(this.#waitingSinceMs);
    if (this.#failing === undefined) return undefined;
    const { error, sinceMs, untilMs } = this.#failing;
    const detail = `for its source, which cannot be read: ${error.message}`;
    return { reason: undefined, detail, sinceMs, untilMs, isDown: true };
  }

  #whyNoRoom(sinceMs: number): VertexWaiting {
    const { acknowledger, next } = this.#parts;
    const of = { reason: undefined, sinceMs };
    if (!acknowledger.isBehind) return { ...of, detail: `for room in the buffer of ${next}` };
    if (acknowledger.isFailing)
      return { ...of, detail: "for its source, which takes no acknowledgements", isDown: true };
    return { ...of, detail: "for acknowledgements that its source has not confirmed" };
  }

  wake(): void {
    this.#parts.output.wakeAll();
  }

  async idle(): Promise<void> {
    while (this.#isReading) await this.#ended.wait();
  }

  async run(): Promise<void> {
    this.#isReading = true;
    try {
      await this.#readAll();
    } finally {
      this.#isReading = false;
      this.#ended.ring();
    }
  }

  /** Until the source has ended, or the pipeline stops. */
  async #readAll(): Promise<void> {
    const { context, output, acknowledger, settings } = this.#parts;
    const { stopped, timer, random } = context;
    let failures = 0;
    const fail = async (error: Error): Promise<void> => {
      const [nowMs, pauseMs] = [timer.now(), backoffMs(++failures, BACKOFF, random)];
      const { sinceMs = nowMs } = this.#failing ?? {};
      this.#failing = { error, sinceMs, untilMs: nowMs + pauseMs };
      this.#tellFailed(error);
      await slept(timer, pauseMs, stopped);
    };
    while (!stopped.aborted) {
      // Half of the buffer at most: a read of all of it would begin only when nothing waits for the next vertex.
      const countMax = Math.min(settings().readBatchSize, Math.ceil(output.capacity / 2));
      if (output.room < countMax || acknowledger.isBehind) {
        this.#waitingSinceMs ??= timer.now();
        await output.freed.wait();
        continue;
      }
      this.#waitingSinceMs = undefined;
      try {
        const messages = await this.#read(countMax);
        failures = 0;
        this.#failing = undefined;
        if (messages === END) break;
        await this.#pass(messages);
      } catch (thrown) {
        if (thrown instanceof InvariantError || thrown instanceof SinkClosedError) throw thrown;
        await fail(asError(thrown));
      }
      if (this.#isTurnOver()) await context.endTurn();
    }
    output.end();
  }

  /** Reads as many messages as there are tokens for, and gives unused tokens back. */
  async #read(countMax: number): Promise<readonly Message[] | typeof END> {
    const { context, limit, source } = this.#parts;
    const signal = context.stopped;
    if (!limit.isLimited)
      return checked(await source.read(countMax, { signal, waitMs: WAIT_MS }), countMax);
    const grant = limit.tryAcquire(countMax) ?? (await limit.acquire(countMax, signal));
    if (grant === undefined) return [];
    let unused = grant.count;
    try {
      const options = { signal, waitMs: WAIT_WITH_TOKENS_MS };
      const messages = checked(await source.read(grant.count, options), grant.count);
      if (messages !== END) unused -= messages.length;
      return messages;
    } finally {
      grant.deposit(unused);
    }
  }

  /** Hands messages to the next vertex. There is room: nothing was read before. */
  async #pass(messages: readonly Message[]): Promise<void> {
    const { length } = messages;
    this.#readsOfTurn++;
    if (length === 0) return;
    const { context, output, meter, format } = this.#parts;
    this.#messagesOfTurn += length;
    meter.onRead(length, context.timer.now());
    const origins = messages.map((message) => new Origin(message));
    if (format === undefined) {
      meter.counts.written += length;
      output.put({ messages, origins });
      return;
    }
    const poison = this.#passDecoded({ messages, origins }, format);
    if (poison.length > 0) await this.#giveUp({ messages, origins }, poison);
  }

  /** Answers the messages whose bytes cannot be read. */
  #passDecoded({ messages, origins }: Batch, format: Format): readonly FailedTry[] {
    const decoded: Message[] = [];
    const origin: Origin[] = [];
    const poison: FailedTry[] = [];
    for (const [index, message] of messages.entries()) {
      try {
        const { value } = message;
        decoded.push(
          Buffer.isBuffer(value) ? { ...message, value: decode(value, format) } : message,
        );
        origin.push(origins[index] as Origin);
      } catch (thrown) {
        poison.push({ index, tries: 1, failure: { error: asError(thrown), isRetriable: false } });
      }
    }
    this.#parts.meter.counts.written += decoded.length;
    if (decoded.length > 0) this.#parts.output.put({ messages: decoded, origins: origin });
    return poison;
  }

  async #giveUp(batch: Batch, poison: readonly FailedTry[]): Promise<void> {
    const { meter, giveUp } = this.#parts;
    meter.counts.failed += poison.length;
    this.#inFlight.add(batch);
    meter.inFlight += poison.length;
    try {
      if (await giveUp.run(batch, poison)) this.#inFlight.delete(batch);
    } finally {
      meter.inFlight -= poison.length;
    }
  }

  #isTurnOver(): boolean {
    if (this.#readsOfTurn < TURN_READS && this.#messagesOfTurn < TURN_MESSAGES) return false;
    this.#readsOfTurn = 0;
    this.#messagesOfTurn = 0;
    return true;
  }

  #tellFailed(error: Error): void {
    const { context, vertex } = this.#parts;
    context.tell({ kind: "read-failed", pipeline: context.pipeline, vertex, error });
  }
}

function checked(
  messages: readonly Message[] | typeof END,
  countMax: number,
): readonly Message[] | typeof END {
  if (messages === END || messages.length <= countMax) return messages;
  throw new InvariantError(
    `a source answered ${messages.length} messages to a read of at most ${countMax}; it must answer no more`,
  );
}

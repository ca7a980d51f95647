import { Worker } from "node:worker_threads";
import type { Timer } from "@sluice/core";
import { asError } from "../../as-error.ts";
import type { Message, Output } from "../../message.ts";
import { MapError } from "../map-error.ts";
import type { MapTask } from "../map-job.ts";
import type { Mapped } from "../mapper.ts";

export interface MapThreadOptions {
  readonly url: string;
  readonly settings: unknown;
  readonly timeoutMs: number;
  readonly memoryMb: number | undefined;
  readonly timer: Timer;
  /** The module is loaded. */
  readonly onReady: () => void;
  /** A message has its result. */
  readonly onResult: () => void;
  /** All messages have theirs. */
  readonly onIdle: () => void;
  /** The thread has ended, with the messages that have no result; told once. */
  readonly onEnded: (how: string, unanswered: readonly MapTask[]) => void;
}

/** What a thread sends. */
interface Sent {
  readonly ready?: true;
  readonly failed?: string;
  readonly place?: number;
  readonly outputs?: readonly Output[];
  readonly error?: string;
  readonly stack?: string;
  readonly isRetriable?: boolean;
}

/** Longest time until the module is loaded, ms. Raised, a module that hangs while it loads is found later. */
const LOAD_MS = 30_000;

/** The same place from `src` and from `dist`. */
const SCRIPT = new URL("../../../workers/map-worker.mjs", import.meta.url);

/** One worker thread, and the messages that it has. It is ended when no result comes for `timeoutMs`. */
export class MapThread {
  readonly #options: MapThreadOptions;
  readonly #worker: Worker;
  readonly #tasks = new Map<number, MapTask>();
  readonly #over = new AbortController();
  /** Aborted when the module is loaded, or the thread is over before that. */
  readonly #loading = new AbortController();
  #place = 0;
  #progressMs = 0;
  #isReady = false;
  #isWatching = false;

  constructor(options: MapThreadOptions) {
    const { url, settings, memoryMb } = options;
    this.#options = options;
    this.#worker = new Worker(SCRIPT, {
      workerData: { url, settings },
      ...(memoryMb === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: memoryMb } }),
    });
    this.#worker.on("message", (sent: unknown) => {
      if (isSent(sent)) this.#onSent(sent);
    });
    this.#worker.once("error", (thrown: unknown) =>
      this.#end(`failed: ${asError(thrown).message}`),
    );
    this.#worker.once("exit", (code) => this.#end(`exited with code ${code}`));
    this.#worker.on("messageerror", (error) =>
      this.#end(`sent what cannot be read: ${error.message}`),
    );
    void this.#watchLoading();
  }

  get isFree(): boolean {
    return this.#isReady && this.#tasks.size === 0 && !this.#over.signal.aborted;
  }

  run(tasks: readonly MapTask[]): void {
    const messages: { readonly place: number; readonly message: Message }[] = [];
    for (const task of tasks) {
      const place = ++this.#place;
      this.#tasks.set(place, task);
      messages.push({ place, message: cloneable(task.message) });
    }
    this.#progressMs = this.#options.timer.now();
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      this.#worker.postMessage({ messages });
    } catch (error) {
      this.#onUncloneable(messages, error);
    }
    if (!this.#isWatching) void this.#watch();
  }

  /** Ends the thread. Answers the messages that have no result. */
  async close(): Promise<readonly MapTask[]> {
    this.#over.abort();
    this.#loading.abort();
    const unanswered = [...this.#tasks.values()];
    this.#tasks.clear();
    await this.#worker.terminate();
    return unanswered;
  }

  #onSent(sent: Sent): void {
    const { ready, failed, place } = sent;
    if (ready === true) {
      this.#isReady = true;
      this.#loading.abort();
      this.#options.onReady();
    }
    if (failed !== undefined) this.#end(failed);
    const task = place === undefined ? undefined : this.#tasks.get(place);
    if (place === undefined || task === undefined) return;
    this.#tasks.delete(place);
    this.#progressMs = this.#options.timer.now();
    task.settle(resultOf(sent));
    this.#options.onResult();
    if (this.#tasks.size === 0) this.#options.onIdle();
  }

  /** A value that is no plain data, such as a function. */
  #onUncloneable(messages: readonly { readonly place: number }[], error: unknown): void {
    const tasks = messages.map(({ place }) => this.#tasks.get(place) as MapTask);
    for (const { place } of messages) this.#tasks.delete(place);
    const [only] = tasks;
    if (tasks.length === 1 && only !== undefined) {
      const text = `the message's value cannot be sent to a thread: ${(error as Error).message}`;
      only.settle({ error: new MapError(text, { cause: error }), isRetriable: false });
      this.#options.onIdle();
    } else for (const task of tasks) this.run([task]);
  }

  async #watchLoading(): Promise<void> {
    try {
      await this.#options.timer.sleep(LOAD_MS, this.#loading.signal);
    } catch {
      return;
    }
    this.#end(`did not load its module within ${LOAD_MS} ms`);
  }

  async #watch(): Promise<void> {
    const { timer, timeoutMs } = this.#options;
    this.#isWatching = true;
    try {
      while (this.#tasks.size > 0) {
        const leftMs = this.#progressMs + timeoutMs - timer.now();
        if (leftMs > 0) await timer.sleep(leftMs, this.#over.signal);
        else this.#end(`gave no result within ${timeoutMs} ms (timeoutMs)`);
      }
    } catch {
      // It has ended.
    } finally {
      this.#isWatching = false;
    }
  }

  #end(how: string): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
    this.#loading.abort();
    const unanswered = [...this.#tasks.values()];
    this.#tasks.clear();
    this.#worker.terminate().catch(() => undefined);
    this.#options.onEnded(how, unanswered);
  }
}

/** The module has the port of its thread, too, and may send anything through it: other messages are ignored. */
function isSent(sent: unknown): sent is Sent {
  if (typeof sent !== "object" || sent === null) return false;
  const { failed, outputs, error } = sent as Readonly<Record<string, unknown>>;
  return (
    isTextIfGiven(failed) &&
    isTextIfGiven(error) &&
    (outputs === undefined || Array.isArray(outputs))
  );
}

function isTextIfGiven(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function resultOf({ outputs, error: text, stack, isRetriable = true }: Sent): Mapped {
  if (outputs !== undefined) return outputs.map(withBuffer);
  const error = new MapError(text ?? "the map failed");
  if (stack !== undefined) error.stack = stack;
  return { error, isRetriable };
}

/** A map without types may answer a list with null in it: the vertex refuses that. */
function withBuffer(output: Output): Output {
  const value = (output as Output | null | undefined)?.value;
  if (!(value instanceof Uint8Array)) return output;
  return { ...output, value: Buffer.from(value.buffer, value.byteOffset, value.length) };
}

/** A plain copy. Bytes are copied alone: a view would take the whole buffer behind it along. */
function cloneable({ id, value, key, headers, eventTimeMs }: Message): Message {
  const content = value instanceof Uint8Array ? new Uint8Array(value) : value;
  return { id, value: content, key, headers, eventTimeMs };
}

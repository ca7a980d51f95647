import { once } from "node:events";
import { ConfigError } from "@sluice/core";
import type { OpenContext } from "../../connector/open-context.ts";
import type { Message } from "../../message.ts";
import { MapError } from "../map-error.ts";
import { MapJob } from "../map-job.ts";
import type { MapTask } from "../map-job.ts";
import type { Mapped, Mapper, MapperWaiting } from "../mapper.ts";
import { RestartBackoff } from "../restart-backoff.ts";
import { MapThread } from "./map-thread.ts";

export interface ThreadMapperOptions {
  readonly module: string;
  readonly url: string;
  readonly settings: unknown;
  readonly threads: number;
  readonly timeoutMs: number;
  readonly memoryMb: number | undefined;
}

/**
 * Messages that a thread is sent at once, at most. Raised, fewer turns are lost between two parts, and more
 * messages are tried alone after one of them has ended its thread.
 */
const PART_MAX = 32;

/**
 * Divides messages among threads. A thread that ends, hangs or runs out of memory is replaced. The messages that it
 * had are then tried one at a time, so that only the message that ends a thread alone fails, retriably.
 */
export class ThreadMapper implements Mapper {
  readonly #options: ThreadMapperOptions;
  readonly #context: OpenContext;
  readonly #threads = new Set<MapThread>();
  readonly #parts: (readonly MapTask[])[] = [];
  readonly #backoff = new RestartBackoff();
  readonly #closed = new AbortController();
  /** Set while no thread can load the module. */
  #down: MapperWaiting | undefined;

  private constructor(options: ThreadMapperOptions, context: OpenContext) {
    this.#options = options;
    this.#context = context;
  }

  /**
   * Resolves once all threads have loaded the module; rejects with a `ConfigError` if one cannot. The signal gives it up at once: a module
   * that never ends loading would keep its threads busy.
   */
  static async open(options: ThreadMapperOptions, context: OpenContext): Promise<ThreadMapper> {
    const { signal } = context;
    signal.throwIfAborted();
    const mapper = new ThreadMapper(options, context);
    const settled = new AbortController();
    const stopped = once(signal, "abort", { signal: settled.signal }).catch(() => undefined);
    try {
      const loaded = Promise.all(Array.from({ length: options.threads }, () => mapper.#first()));
      await Promise.race([loaded, stopped]);
      signal.throwIfAborted();
    } catch (error) {
      await mapper.close();
      throw error;
    } finally {
      settled.abort();
    }
    return mapper;
  }

  map(
    messages: readonly Message[],
    { signal }: { readonly signal: AbortSignal },
  ): Promise<readonly Mapped[]> {
    const { tasks, done } = new MapJob(messages, signal);
    const size = Math.min(PART_MAX, Math.ceil(tasks.length / this.#options.threads));
    for (let from = 0; from < tasks.length; from += size)
      this.#parts.push(tasks.slice(from, from + size));
    if (this.#closed.signal.aborted) this.#failAll(new MapError("the map was closed"));
    this.#pump();
    return done;
  }

  why(): MapperWaiting | undefined {
    return this.#down;
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    const ended = await Promise.all([...this.#threads].map((thread) => thread.close()));
    this.#parts.push(...ended);
    this.#failAll(new MapError("the map was closed"));
  }

  /** A thread of the start: it must load the module. */
  #first(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#start(resolve, (how) => {
        const { module } = this.#options;
        reject(
          new ConfigError(
            `${module} cannot be used in a thread: ${how}; a map module has a default export, such as export default (message) => ({ value: message.value }), or an export named batch`,
          ),
        );
      });
    });
  }

  #start(onReady: () => void, onFailed: (how: string) => void): void {
    const { url, settings, timeoutMs, memoryMb } = this.#options;
    let isReady = false;
    const thread: MapThread = new MapThread({
      url,
      settings,
      timeoutMs,
      memoryMb,
      timer: this.#context.timer,
      onReady: () => {
        isReady = true;
        this.#down = undefined;
        onReady();
        this.#pump();
      },
      onResult: () => this.#backoff.onSuccess(),
      onIdle: () => this.#pump(),
      onEnded: (how, unanswered) => {
        this.#threads.delete(thread);
        if (isReady) this.#onEnded(how, unanswered);
        else onFailed(how);
      },
    });
    this.#threads.add(thread);
  }

  #pump(): void {
    for (const thread of this.#threads) {
      while (thread.isFree) {
        const part = this.#parts.shift()?.filter(({ isOver }) => !isOver);
        if (part === undefined) return;
        if (part.length > 0) thread.run(part);
      }
    }
  }

  #onEnded(how: string, unanswered: readonly MapTask[]): void {
    if (this.#closed.signal.aborted) return;
    const [only] = unanswered;
    if (unanswered.length === 1 && only !== undefined) {
      const text = `the map's thread ${how} while it had the message`;
      only.settle({ error: new MapError(text), isRetriable: true });
    } else this.#parts.unshift(...unanswered.map((task) => [task]));
    this.#restart(how);
  }

  #restart(how: string): void {
    const pauseMs = this.#backoff.nextMs();
    const { module } = this.#options;
    this.#context.tell({
      level: "warning",
      text: `a thread of ${module} ${how}; it is replaced${pauseMs === 0 ? "" : ` in ${pauseMs} ms`}`,
    });
    this.#context.timer.sleep(pauseMs, this.#closed.signal).then(
      () =>
        this.#start(
          () => undefined,
          (failure) => this.#onLost(failure),
        ),
      () => undefined,
    );
  }

  /** The module cannot be loaded any more, which is the fault of no message: without any thread they wait. */
  #onLost(how: string): void {
    if (this.#closed.signal.aborted) return;
    const { module } = this.#options;
    if (this.#threads.size === 0)
      this.#down = {
        detail: `for ${module}, which no thread can load: ${how}`,
        sinceMs: this.#down?.sinceMs ?? this.#context.timer.now(),
      };
    this.#restart(`cannot load it: ${how}`);
  }

  #failAll(error: MapError): void {
    for (const part of this.#parts.splice(0))
      for (const task of part) task.settle({ error, isRetriable: true });
  }
}

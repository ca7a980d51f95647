import { addAbortListener, removeAbortListener } from "@sluice/core/internal";
import type { AbortListener } from "@sluice/core/internal";
import type { Message } from "../message.ts";
import type { Mapped } from "./mapper.ts";

/** One message on its way to a worker, and the place of its result. */
export interface MapTask {
  readonly message: Message;
  /** The result is known, or the caller waits no longer. */
  readonly isOver: boolean;
  /** Only the first call counts. */
  settle(mapped: Mapped): void;
}

/** One call of `map`: resolves when each of its messages has a result. An abort fails the others, retriably. */
export class MapJob implements AbortListener {
  readonly tasks: readonly MapTask[];
  readonly done: Promise<readonly Mapped[]>;
  readonly #results: (Mapped | undefined)[] = [];
  readonly #signal: AbortSignal;
  #left = 0;
  #resolve: (results: readonly Mapped[]) => void = () => undefined;

  constructor(messages: readonly Message[], signal: AbortSignal) {
    this.#signal = signal;
    this.#left = messages.length;
    this.#results = messages.map(() => undefined);
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.tasks = messages.map((message, place) => this.#task(message, place));
    if (messages.length === 0) this.#resolve([]);
    else if (signal.aborted) this.handleEvent();
    else addAbortListener(signal, this);
  }

  /** The drain's deadline. */
  handleEvent(): void {
    const reason: unknown = this.#signal.reason;
    const error = reason instanceof Error ? reason : new Error("the map was given up");
    for (const task of this.tasks) task.settle({ error, isRetriable: true });
  }

  #task(message: Message, place: number): MapTask {
    const results = this.#results;
    return {
      message,
      get isOver() {
        return results[place] !== undefined;
      },
      settle: (mapped) => {
        if (results[place] !== undefined) return;
        results[place] = mapped;
        this.#left--;
        if (this.#left > 0) return;
        removeAbortListener(this.#signal, this);
        this.#resolve(results as Mapped[]);
      },
    };
  }
}

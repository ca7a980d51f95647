import type { RunAnswer, RunProblem, RunRequest, RunResult } from "./messages.ts";

/** What a worker is for its runner. */
export interface RunWorker {
  post(request: RunRequest): void;
  terminate(): void;
}

/** Starts something after a time; answers how to prevent it. */
type Later = (ms: number, run: () => void) => () => void;

export interface RunnerOptions {
  readonly createWorker: (
    onAnswer: (answer: RunAnswer) => void,
    onError: (message: string) => void,
  ) => RunWorker;
  readonly later: Later;
  /** `text` is the scenario that was run, which may not be the newest. */
  readonly onResult: (result: RunResult, text: string) => void;
  readonly onProblem: (problem: RunProblem) => void;
  /** The worker itself could not be loaded, or has died. */
  readonly onFailed: (message: string) => void;
}

/** A run that takes longer is given up: nothing that is set on the page may take all of a core. */
export const RUN_MAX_MS = 5_000;
/** How long a run that is outdated may go on before its worker is replaced. A new worker takes about 50 ms. */
const OUTDATED_MAX_MS = 250;
/** Failures in a row after which no new worker is made. */
const FAILURES_MAX = 3;

/** Runs the newest scenario of one side in a worker; what was asked before is forgotten. */
export class Runner {
  readonly #options: RunnerOptions;
  #worker: RunWorker | undefined;
  #id = 0;
  #next: string | undefined;
  #running = "";
  #isBusy = false;
  #stopTimeout: () => void = () => {};
  #stopOutdated: (() => void) | undefined;
  #failures = 0;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  run(text: string): void {
    this.#next = text;
    if (!this.#isBusy) this.#start();
    else
      this.#stopOutdated ??= this.#options.later(OUTDATED_MAX_MS, () => {
        this.#replace();
        this.#start();
      });
  }

  /** Makes a new worker after failures, and tries again. */
  retry(text: string): void {
    this.#failures = 0;
    this.#replace();
    this.run(text);
  }

  end(): void {
    this.#next = undefined;
    this.#replace();
  }

  #start(): void {
    const text = this.#next;
    if (text === undefined) return;
    this.#next = undefined;
    this.#isBusy = true;
    this.#running = text;
    this.#worker ??= this.#create();
    this.#worker.post({ id: ++this.#id, text });
    this.#stopTimeout = this.#options.later(RUN_MAX_MS, () => {
      this.#replace();
      const message = `the run took longer than ${RUN_MAX_MS / 1000} s and was given up; make it shorter, or ask for less`;
      this.#options.onProblem({ message });
      this.#start();
    });
  }

  #create(): RunWorker {
    const worker = this.#options.createWorker(
      (answer) => {
        if (worker === this.#worker && answer.id === this.#id) this.#onAnswer(answer);
      },
      (message) => {
        if (worker === this.#worker) this.#onError(message);
      },
    );
    return worker;
  }

  #onAnswer(answer: RunAnswer): void {
    this.#failures = 0;
    this.#idle();
    if ("problem" in answer) this.#options.onProblem(answer.problem);
    // An outdated result is shown too: while a number is dragged the picture follows.
    else this.#options.onResult(answer.result, this.#running);
    this.#start();
  }

  #onError(message: string): void {
    this.#replace();
    if (++this.#failures >= FAILURES_MAX) this.#options.onFailed(message);
    else this.run(this.#next ?? this.#running);
  }

  #idle(): void {
    this.#isBusy = false;
    this.#stopTimeout();
    this.#stopOutdated?.();
    this.#stopOutdated = undefined;
  }

  #replace(): void {
    this.#idle();
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}

import type { Message, Output } from "../message.ts";

/** A message that a map could not process. */
export interface MapFailure {
  readonly error: Error;
  /** Whether the same message may succeed later. False: it goes to the dead-letter sink at once. */
  readonly isRetriable: boolean;
}

/** What became of one message: its outputs, none if it was dropped, or a failure. */
export type Mapped<T = unknown> = readonly Output<T>[] | MapFailure;

/** Why a map processes nothing at present: its program or its threads cannot be started. */
export interface MapperWaiting {
  /** What it waits for, such as `for python3, which exited with code 1 before it answered anything`. */
  readonly detail: string;
  /** On the runtime's clock, ms. */
  readonly sinceMs: number;
  readonly untilMs?: number | undefined;
}

/** A map as a vertex runs it: whole batches, in the process, in threads or in a child process. */
export interface Mapper<I = unknown, O = unknown> {
  /**
   * One result for each message, in their order. A result that is there at once costs no promise.
   * Rejecting is a failure of every message that may succeed later. `signal` ends it at the drain's deadline.
   */
  map(
    messages: readonly Message<I>[],
    options: { readonly signal: AbortSignal },
  ): readonly Mapped<O>[] | Promise<readonly Mapped<O>[]>;
  /** For the state of the vertex. */
  why?(): MapperWaiting | undefined;
  close(): Promise<void>;
}

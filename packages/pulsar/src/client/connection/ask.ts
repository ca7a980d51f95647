import type { CommandBodies } from "../../wire/command.ts";
import type { AnswerKind, RequestTable } from "./request-table.ts";

export interface Question<Kind extends AnswerKind> {
  readonly expects: Kind;
  readonly nowMs: number;
  /** Aborting it ends the wait; the broker may still do what it was asked for. */
  readonly signal?: AbortSignal | undefined;
  /** The broker will answer when it is the asker's turn: there is no deadline any more. */
  readonly onHold?: (() => void) | undefined;
}

/** Enters a request into the table, sends it under its id, and waits for the answer. */
export function ask<Kind extends AnswerKind>(
  table: RequestTable,
  { expects, nowMs, signal, onHold }: Question<Kind>,
  send: (requestId: bigint) => void,
): Promise<CommandBodies[Kind]> {
  return new Promise((resolve, reject: (reason: unknown) => void) => {
    signal?.throwIfAborted();
    const onAbort = (): void => {
      table.forget(id);
      reject(signal?.reason);
    };
    const stopListening = (): void => signal?.removeEventListener("abort", onAbort);
    const id = table.add(
      {
        expects,
        onHold,
        resolve: (body) => {
          stopListening();
          // The table lets no answer of another kind through.
          resolve(body as CommandBodies[Kind]);
        },
        reject: (error) => {
          stopListening();
          reject(error);
        },
      },
      nowMs,
    );
    signal?.addEventListener("abort", onAbort, { once: true });
    send(id);
  });
}

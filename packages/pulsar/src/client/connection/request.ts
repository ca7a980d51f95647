import { addAbortListener, removeAbortListener } from "@sluice/core/internal";
import type { CommandBodies } from "../../wire/command.ts";
import type { AnswerKind, RequestTable } from "./request-table.ts";

export interface RequestOptions {
  /** Aborting it ends the wait; the broker may still do what the request asks for. */
  readonly signal?: AbortSignal | undefined;
  /** The broker queued the request (producerReady is false): the deadline is lifted. */
  readonly onHold?: (() => void) | undefined;
}

interface RequestContext<Kind extends AnswerKind> extends RequestOptions {
  readonly expects: Kind;
  readonly nowMs: number;
  readonly send: (requestId: bigint) => void;
}

/** Enters a request into the table, sends it with its id, and waits for the answer. */
export function request<Kind extends AnswerKind>(
  table: RequestTable,
  { expects, nowMs, signal, onHold, send }: RequestContext<Kind>,
): Promise<CommandBodies[Kind]> {
  return new Promise((resolve, reject: (reason: unknown) => void) => {
    signal?.throwIfAborted();
    const listener = {
      handleEvent: (): void => {
        table.forget(id);
        reject(signal?.reason);
      },
    };
    const stopListening = (): void => {
      if (signal !== undefined) removeAbortListener(signal, listener);
    };
    const id = table.add(
      {
        expects,
        onHold,
        resolve: (body) => {
          stopListening();
          // The table passes only answers of the expected kind.
          resolve(body as CommandBodies[Kind]);
        },
        reject: (error) => {
          stopListening();
          reject(error);
        },
      },
      nowMs,
    );
    if (signal !== undefined) addAbortListener(signal, listener);
    send(id);
  });
}

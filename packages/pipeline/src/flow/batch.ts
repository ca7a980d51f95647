import type { Message } from "../message.ts";
import type { Origin } from "./origin.ts";

/** Messages on their way between two vertices, in order; `origins[i]` is the source message of `messages[i]`. */
export interface Batch {
  readonly messages: readonly Message[];
  readonly origins: readonly Origin[];
}

export function sliceBatch({ messages, origins }: Batch, from: number, to: number): Batch {
  return { messages: messages.slice(from, to), origins: origins.slice(from, to) };
}

export function joinBatches(batches: readonly Batch[]): Batch {
  const [only] = batches;
  if (only !== undefined && batches.length === 1) return only;
  return {
    messages: batches.flatMap(({ messages }) => messages),
    origins: batches.flatMap(({ origins }) => origins),
  };
}

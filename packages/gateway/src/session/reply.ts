import { NO_ID, SERVER_ERROR } from "@sluice/pulsar/wire";
import type { Outbox } from "./effect.ts";
import { plainText } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";

/** In place of a request's id where nobody asked. */
export const NO_REQUEST: bigint = NO_ID;

export function succeed(outbox: Outbox, requestId: bigint): void {
  outbox.send({ kind: "success", body: { requestId } });
}

export function refuse(outbox: Outbox, requestId: bigint, { error, message }: Refusal): void {
  outbox.send({
    kind: "error",
    body: { requestId, error: SERVER_ERROR[error], message: plainText(message) },
  });
}

import { NO_ID, SERVER_ERROR } from "@sluice/pulsar/wire";
import { plainText } from "../../refusal/refusal.ts";
import type { Refusal } from "../../refusal/refusal.ts";
import type { Outbox } from "../effect.ts";

/** In place of a request's id in commands that answer no request. */
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

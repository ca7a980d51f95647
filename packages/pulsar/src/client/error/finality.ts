import type { SluiceError } from "@sluice/core";
import type { ServerErrorName } from "../../wire/constants.ts";
import { ProtocolError } from "../../wire/protocol-error.ts";
import { BrokerError } from "./broker-error.ts";
import { ConnectionError } from "./connection-error.ts";
import { DeadlineError } from "./deadline-error.ts";

/** Asking again gives the same answer. */
const FINAL: ReadonlySet<ServerErrorName> = new Set<ServerErrorName>([
  "AuthenticationError",
  "AuthorizationError",
  "UnsupportedVersionError",
  "TopicNotFound",
  "TopicTerminatedError",
  "InvalidTopicName",
  "IncompatibleSchema",
  "ConsumerAssignError",
  "NotAllowedError",
  "ProducerFenced",
]);

/**
 * Of somebody new these are final. Of somebody who was attached they may mean the connection that
 * was just lost, which the broker has not noticed yet.
 */
const FINAL_AT_FIRST: ReadonlySet<ServerErrorName> = new Set<ServerErrorName>([
  "ConsumerBusy",
  "ProducerBusy",
  "SubscriptionNotFound",
  "ProducerBlockedQuotaExceededException",
]);

/** Whether another attempt to attach cannot help. */
export function isFinal(reason: SluiceError, wasAttached: boolean): boolean {
  if (reason instanceof BrokerError) {
    const { serverError } = reason;
    return FINAL.has(serverError) || (!wasAttached && FINAL_AT_FIRST.has(serverError));
  }
  // A broken frame may have been for somebody else on a shared connection.
  if (reason instanceof ProtocolError) return !wasAttached;
  return !(reason instanceof ConnectionError || reason instanceof DeadlineError);
}

import type { SluiceError } from "@sluice/core";
import type { ServerErrorName } from "../../wire/constants.ts";
import { ProtocolError } from "../../wire/protocol-error.ts";
import { BrokerError } from "../error/broker-error.ts";
import { ConnectionError } from "../error/connection-error.ts";
import { DeadlineError } from "../error/deadline-error.ts";

/** Server errors that a retry would get again. */
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
 * Server errors that are final for a new producer or consumer. After a lost connection they may refer
 * to the previous connection, which the broker has not noticed to be gone.
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
  // On a shared connection, a broken frame may have been for another producer or consumer.
  if (reason instanceof ProtocolError) return !wasAttached;
  return !(reason instanceof ConnectionError || reason instanceof DeadlineError);
}

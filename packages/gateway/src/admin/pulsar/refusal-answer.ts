import { ConfigError } from "@sluice/core";
import type { ServerErrorName } from "@sluice/pulsar/wire";
import { RefusalError } from "../../refusal/refusal-error.ts";
import { StorageClosedError, StorageError } from "../../storage/storage-error.ts";
import { refused } from "../http/answer.ts";
import type { Answer } from "../http/answer.ts";

/** HTTP statuses of the broker's refusals, as Pulsar's admin clients know them. */
const STATUS: Readonly<Partial<Record<ServerErrorName, number>>> = {
  AuthenticationError: 401,
  AuthorizationError: 403,
  TopicNotFound: 404,
  SubscriptionNotFound: 404,
  ConsumerNotFound: 404,
  TopicTerminatedError: 409,
  IncompatibleSchema: 409,
  InvalidTopicName: 412,
  NotAllowedError: 412,
  MetadataError: 412,
  ConsumerBusy: 412,
  ProducerBusy: 412,
  TooManyRequests: 429,
  ServiceNotReady: 503,
  PersistenceError: 503,
};

/** The answer to what the broker refused; undefined for an error that should not have happened. */
export function refusalAnswer(error: unknown): Answer | undefined {
  if (error instanceof ConfigError) return refused(400, error.message);
  if (error instanceof StorageError || error instanceof StorageClosedError)
    return refused(503, "storage cannot do this now");
  if (!(error instanceof RefusalError)) return undefined;
  const status = STATUS[error.error];
  return status === undefined ? undefined : refused(status, error.message);
}

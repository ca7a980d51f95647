import { SluiceError } from "@sluice/core";
import { StoreError } from "../store-error.ts";
import type { Redaction } from "@sluice/core/internal";

/** Characters of a foreign message that an error shows; Redis's own messages have at most 150. */
const MESSAGE_MAX = 200;
/** Characters of a foreign message that are looked at; bounds the time that hiding secrets takes. */
const READ_MAX = 20_000;
/** An error of a cluster or of several sentinels contains the errors of its nodes. */
const DEPTH_MAX = 4;

/** Replies and TLS errors that only a change of settings, of the server or of ours, can end. */
const PERMANENT: readonly RegExp[] = [
  /\b(?:WRONGPASS|NOAUTH|NOPERM|DENIED)\b/,
  // A command of many arguments before AUTH: a server's other words for NOAUTH.
  /unauthenticated (?:multi)?bulk length/,
  // The replies of servers without ACL: before Redis 6, and some that are compatible with Redis.
  /invalid password|without any password configured|no password is set/i,
  // A script calls a command that its user may not call: Redis 6, Valkey.
  /user executing the script can't run this command|ACL failure in script/i,
  /unknown (?:redis )?command|DB index is out of range|invalid DB index|SELECT is not allowed in cluster mode/i,
  /self[- ]signed certificate|unable to verify the first certificate|unable to get (?:local )?issuer certificate|does not match certificate's altnames/i,
];

const WITHOUT_PASSWORD = /\bNOAUTH\b|unauthenticated (?:multi)?bulk length/;
const GIVE_PASSWORD =
  "; the server wants a password: redis://:password@host, or the option password";

/**
 * The error of the store for whatever a client library has thrown. It has no `cause`: a library's
 * error holds the command that failed, and so the password.
 */
export function storeErrorOf(error: unknown, redaction: Redaction): Error {
  if (error instanceof SluiceError) return error;
  const message = messagesOf(error).join(": ").slice(0, READ_MAX);
  const canHeal = !PERMANENT.some((pattern) => pattern.test(message));
  // Hidden first, cut afterwards: a piece that was cut is no longer found.
  const shown = redaction.apply(message).slice(0, MESSAGE_MAX);
  const advice = WITHOUT_PASSWORD.test(message) ? GIVE_PASSWORD : "";
  return new StoreError(`Redis: ${shown}${advice}`, { canHeal });
}

/** The message of an error and of the errors inside it, each once. */
function messagesOf(error: unknown, depth: number = DEPTH_MAX): string[] {
  if (depth === 0 || error === undefined || error === null) return [];
  if (typeof error === "string") return [error];
  if (typeof error !== "object") return [`threw a ${typeof error}`];
  const { message, code, errors, lastNodeError, cause } = error as Partial<ForeignError>;
  const own = message === undefined || message === "" ? code : message;
  const nodes: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const inner = [...nodes, lastNodeError, cause].flatMap((each) => messagesOf(each, depth - 1));
  return [...new Set([...(own === undefined ? [] : [own]), ...inner])];
}

interface ForeignError {
  readonly message: string;
  /** The only text that an `AggregateError` of `node:net` has. */
  readonly code: string;
  readonly errors: unknown;
  /** Of ioredis: why the last node of the cluster could not be asked. */
  readonly lastNodeError: unknown;
  readonly cause: unknown;
}

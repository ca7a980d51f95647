import { ConnectorError } from "../connector-error.ts";

/** Replies that only a change of settings, of the server or of ours, can end, with the way out. */
const PERMANENT: readonly (readonly [RegExp, string])[] = [
  [/\bWRONGPASS\b|invalid password/i, "mend the password: redis://user:password@host"],
  [/\bNOAUTH\b/, "the server wants a password: redis://user:password@host"],
  [
    /\bNOPERM\b/,
    "give the user the right to the commands XADD, XREADGROUP, XACK, XCLAIM, XAUTOCLAIM, XGROUP and XINFO of this key",
  ],
  [/\bWRONGTYPE\b/, "the key holds something other than a stream; use another name for the stream"],
  [/unknown command.*XAUTOCLAIM/i, "use Redis 6.2 or newer, or Valkey"],
  [/without any password configured/i, "the server has no password; remove it from the URL"],
  [/DB index is out of range/i, "use a database that the server has, e.g. redis://host/0"],
];

/** The library's words for a connection that has gone. */
const LOST = /Stream isn't writeable|Connection is closed/;

/** Characters of a foreign message that an error shows. */
const MESSAGE_MAX = 200;

/**
 * The error for whatever the client library has thrown. It has no `cause`: a library's error holds the command
 * that failed, and so the password.
 */
export function redisError(what: string, error: unknown, secrets: readonly string[]): Error {
  if (error instanceof ConnectorError) return error;
  const said = error instanceof Error ? messageOf(error) : String(error);
  const found = LOST.test(said) ? "the connection was lost" : said;
  const [, wayOut] = PERMANENT.find(([pattern]) => pattern.test(found)) ?? [];
  let text = found;
  for (const secret of secrets) text = text.replaceAll(secret, "***");
  const advice = wayOut === undefined ? "" : `; ${wayOut}`;
  return new ConnectorError(`${what}: ${text.slice(0, MESSAGE_MAX)}${advice}`, {
    canHeal: wayOut === undefined,
  });
}

/** Whether the group does not exist, as after FLUSHALL, or its stream was removed while a read waited. */
export function isGroupMissing(error: unknown): boolean {
  return error instanceof Error && /\b(?:NOGROUP|UNBLOCKED)\b/.test(error.message);
}

/** An AggregateError of `node:net` has a code only. */
function messageOf(error: Error & { readonly code?: string }): string {
  return error.message === "" ? (error.code ?? error.name) : error.message;
}

import { ConnectionError } from "../error/connection-error.ts";
import { abortable } from "../wait/abortable.ts";
import type { Authentication } from "./authentication.ts";

/**
 * The bytes for CONNECT, or for AUTH_RESPONSE if there was a `challenge`. Rejects with a
 * `ConnectionError`, or with the signal's reason even if the method ignores its signal. No error shows
 * credentials.
 */
export async function credentialsOf(
  authentication: Authentication,
  signal: AbortSignal,
  challenge?: Uint8Array,
): Promise<Uint8Array> {
  const { methodName } = authentication;
  const given = await abortable(asked(authentication, signal, challenge), signal);
  if (typeof given === "string") return Buffer.from(given, "utf8");
  if (given instanceof Uint8Array) return given;
  throw new ConnectionError(
    `the authentication method "${methodName}" gave credentials of type ${typeof given}; return a string or a Uint8Array`,
  );
}

async function asked(
  authentication: Authentication,
  signal: AbortSignal,
  challenge: Uint8Array | undefined,
): Promise<unknown> {
  try {
    if (challenge === undefined || authentication.refresh === undefined)
      return await authentication.credentials(signal);
    return await authentication.refresh(challenge, signal);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof ConnectionError) throw cause;
    const { methodName } = authentication;
    throw new ConnectionError(`the authentication method "${methodName}" gave no credentials`, {
      cause,
    });
  }
}

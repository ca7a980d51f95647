import { ConnectionError } from "./connection-error.ts";
import { addressName } from "../connection/connection-target.ts";
import type { Endpoint } from "../connection/transport.ts";

const UNTRUSTED = "nobody we trust vouches for its certificate; tls.ca says whom else to trust";
const WITHOUT_TLS = "perhaps it is without TLS; the URL then begins with pulsar://";

/** What may be wrong, by the code that Node gives. */
const HINTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "is a broker listening there?",
  EHOSTUNREACH: "is the network right?",
  ENOTFOUND: "is the name right?",
  EAI_AGAIN: "names cannot be looked up now",
  EPROTO: WITHOUT_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: WITHOUT_TLS,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

/** Says where nobody could be reached, why, and what may be wrong. */
export function unreachable(endpoint: Endpoint, cause: Error): ConnectionError {
  const { code = "", message } = firstOf(cause);
  const hint = hintFor(code, endpoint);
  const what = `${addressName(endpoint)} cannot be reached: ${message.trim()}`;
  return new ConnectionError(hint === undefined ? what : `${what}; ${hint}`, { cause });
}

/** A host with several addresses fails with one error for each, and no message of its own. */
function firstOf(error: Error & { readonly code?: string }): {
  readonly code?: string;
  readonly message: string;
} {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  const [first] = errors;
  return first instanceof Error ? first : error;
}

function hintFor(code: string, { isTls }: Endpoint): string | undefined {
  // Reset in the middle of TLS's own handshake.
  return code === "ECONNRESET" && isTls ? WITHOUT_TLS : HINTS[code];
}

import { ConnectionError } from "../error/connection-error.ts";
import { addressName } from "./connection-target.ts";
import type { Endpoint } from "./transport.ts";

const UNTRUSTED =
  "its certificate is not signed by a trusted CA; set tls.ca to the CA's certificate";
const WITHOUT_TLS = "is the port one without TLS? The URL then begins with pulsar://";

/** The likely cause, by Node's error code. */
const HINTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "is a broker listening there?",
  EHOSTUNREACH: "is there a network route to the host?",
  ENOTFOUND: "is the host name right?",
  EAI_AGAIN: "DNS does not answer now",
  EPROTO: WITHOUT_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: WITHOUT_TLS,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

/** Says which address could not be reached, why, and the likely cause. */
export function dialError(endpoint: Endpoint, cause: Error): ConnectionError {
  const { code = "", message } = firstOf(cause);
  const hint = hintFor(code, endpoint);
  const what = `${addressName(endpoint)} cannot be reached: ${message.trim()}`;
  return new ConnectionError(hint === undefined ? what : `${what}; ${hint}`, { cause });
}

/** A host with several addresses fails with an AggregateError without a message of its own. */
function firstOf(error: Error & { readonly code?: string }): {
  readonly code?: string;
  readonly message: string;
} {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  const [first] = errors;
  return first instanceof Error ? first : error;
}

function hintFor(code: string, { isTls }: Endpoint): string | undefined {
  // A reset during the TLS handshake.
  return code === "ECONNRESET" && isTls ? WITHOUT_TLS : HINTS[code];
}

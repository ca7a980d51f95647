import { SluiceError } from "@sluice/core";

/** A broker cannot be reached. */
export class UpstreamError extends SluiceError {
  override readonly name = "UpstreamError";
  readonly code = "CONNECTION";

  constructor(target: string, cause: unknown) {
    super(`broker ${target} cannot be reached: ${reasonOf(cause)}`, { cause });
  }
}

/** A client may not be connected to the broker it has named. */
export class RefusedTargetError extends SluiceError {
  override readonly name = "RefusedTargetError";
  readonly code = "CONNECTION";
}

const UNTRUSTED = "its certificate is not signed by a trusted CA; set upstream.tls.ca";
const WITHOUT_TLS = "is the port one without TLS? Then upstream begins with pulsar://";

/** The likely cause, by Node's error code. */
const HINTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "is a broker listening there?",
  ENOTFOUND: "is the host name right?",
  EPROTO: WITHOUT_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: WITHOUT_TLS,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const { code } = cause as NodeJS.ErrnoException;
  const hint = code === undefined ? undefined : HINTS[code];
  return hint === undefined ? cause.message : `${cause.message}; ${hint}`;
}

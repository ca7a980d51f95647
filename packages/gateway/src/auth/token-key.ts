import { ConfigError } from "@sluice/core";
import { createPublicKey, createSecretKey } from "node:crypto";
import type { KeyObject } from "node:crypto";

/** What tokens are signed with: a secret that both sides know, or a pair of which we know half. */
export type TokenKeyOptions =
  | { readonly secretKey: Uint8Array; readonly publicKey?: undefined }
  | {
      /** PEM as text, or the DER of an SPKI, which is what Pulsar's own tool writes. */
      readonly publicKey: string | Uint8Array;
      readonly secretKey?: undefined;
    };

/** A key, and the algorithms that it may be used with; no token can choose others. */
export interface TokenKey {
  /** Node's own object, which never prints what it holds. */
  readonly key: KeyObject;
  readonly algorithms: readonly string[];
}

/** A shorter secret can be guessed from a single token. */
const SECRET_MIN_BYTES = 32;

/** RFC 7518 wants a secret at least as long as the hash. */
const HMAC_MIN_BYTES = { HS256: 32, HS384: 48, HS512: 64 } as const;

/** Shorter keys of RSA are within reach of those who have the machines. */
const RSA_MIN_BITS = 2048;

const RSA_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const;

/** By what Node calls the curve. */
const EC_ALGORITHMS: ReadonlyMap<string | undefined, string> = new Map([
  ["prime256v1", "ES256"],
  ["secp384r1", "ES384"],
  ["secp521r1", "ES512"],
]);

const PUBLIC_KEY_FORM = "it must be a public key, as PEM text or as the DER bytes of an SPKI";

/** Takes the key, and of its algorithms those that are asked for, or all. */
export function tokenKeyOf(options: TokenKeyOptions, asked?: readonly string[]): TokenKey {
  const { key, algorithms } =
    options.secretKey === undefined
      ? publicTokenKey(options.publicKey)
      : secretTokenKey(options.secretKey);
  for (const algorithm of asked ?? []) {
    if (!algorithms.includes(algorithm))
      throw new ConfigError(
        `algorithms has "${algorithm}"; with this key it may have ${algorithms.join(", ")}`,
      );
  }
  if (asked?.length === 0) throw new ConfigError("algorithms is empty; leave it out to allow all");
  return { key, algorithms: asked ?? algorithms };
}

function secretTokenKey(secret: Uint8Array): TokenKey {
  if (!(secret instanceof Uint8Array))
    throw new ConfigError("secretKey must be bytes: decode it if it is text");
  if (secret.length < SECRET_MIN_BYTES)
    throw new ConfigError(
      `secretKey has ${secret.length} bytes; it must have at least ${SECRET_MIN_BYTES}`,
    );
  const algorithms = Object.entries(HMAC_MIN_BYTES)
    .filter(([, minBytes]) => secret.length >= minBytes)
    .map(([algorithm]) => algorithm);
  return { key: createSecretKey(secret), algorithms };
}

function publicTokenKey(publicKey: string | Uint8Array): TokenKey {
  const key = readPublicKey(publicKey);
  return { key, algorithms: algorithmsOf(key) };
}

function readPublicKey(publicKey: string | Uint8Array): KeyObject {
  // Node would take the public half of a private key, and hide that the other half lies about.
  if (typeof publicKey === "string" && publicKey.includes("PRIVATE KEY"))
    throw new ConfigError(`publicKey is a private key; ${PUBLIC_KEY_FORM}`);
  try {
    return typeof publicKey === "string"
      ? createPublicKey(publicKey)
      : createPublicKey({ key: Buffer.from(publicKey), format: "der", type: "spki" });
  } catch {
    throw new ConfigError(`publicKey cannot be read; ${PUBLIC_KEY_FORM}`);
  }
}

function algorithmsOf(key: KeyObject): readonly string[] {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === "rsa") {
    if (modulusLength >= RSA_MIN_BITS) return RSA_ALGORITHMS;
    throw new ConfigError(
      `publicKey has ${modulusLength} bits; with RSA it must have at least ${RSA_MIN_BITS}`,
    );
  }
  if (key.asymmetricKeyType === "ed25519") return ["EdDSA", "Ed25519"];
  const algorithm = EC_ALGORITHMS.get(namedCurve);
  if (algorithm !== undefined) return [algorithm];
  throw new ConfigError(
    "publicKey is of a kind that signs no tokens; it must be RSA, Ed25519, P-256, P-384 or P-521",
  );
}

import { ConfigError } from "@sluice/core";
import type { Authentication } from "./authentication.ts";

/** A token, or a function that returns the current one. */
export type Token = string | (() => string | Promise<string>);

/**
 * Pulsar's method "token": a JSON Web Token. A function is called for each connection and each
 * AUTH_CHALLENGE. The token is held in a closure, so that no `console.log` of a client shows it.
 */
export function tokenAuthentication(token: Token): Authentication {
  const wayOut = "use a string or a function that returns one";
  if (token === "") throw new ConfigError(`token is empty; ${wayOut}`);
  if (typeof token !== "function" && typeof token !== "string")
    throw new ConfigError(`token is of type ${typeof token}; ${wayOut}`);
  return { methodName: "token", credentials: typeof token === "string" ? () => token : token };
}

/** Pulsar's method "basic": a user and a password, sent in plain text unless the URL is pulsar+ssl://. */
export function basicAuthentication(user: string, password: string): Authentication {
  if (typeof user !== "string" || user === "" || user.includes(":"))
    throw new ConfigError('the user of basicAuthentication must be a text without ":"');
  if (typeof password !== "string")
    throw new ConfigError("the password of basicAuthentication must be a string");
  return { methodName: "basic", credentials: () => `${user}:${password}` };
}

/** Pulsar's method "tls": the broker reads the role from the client certificate, `tls.cert` and `tls.key`. */
export function tlsAuthentication(): Authentication {
  return { methodName: "tls", credentials: () => "" };
}

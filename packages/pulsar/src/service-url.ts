import { ConfigError } from "@sluice/core";
import { isIPv6 } from "node:net";

export interface ServiceAddress {
  /** A host name or an IP address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** The addresses of a cluster; a client uses any of them. */
export interface ServiceUrl {
  readonly isTls: boolean;
  /** At least one. */
  readonly addresses: readonly ServiceAddress[];
}

const DEFAULT_PORT = 6650;
const DEFAULT_TLS_PORT = 6651;

const URL_MAX_LENGTH = 4096;

/** DNS host names, and underscores, which container networks use. */
const HOST = /^(?=.{1,253}$)[a-z0-9_]([-a-z0-9_.]*[a-z0-9_])?$/i;

/** A host, IPv6 in brackets, with an optional port. */
const ADDRESS = /^(?:\[(?<ipv6>[^\]]*)\]|(?<name>[^:]*))(?::(?<port>.*))?$/s;

/**
 * Parses `pulsar://host:port` or `pulsar+ssl://host:port`, with several addresses between commas if
 * need be. No error shows any of the text, because URLs may contain passwords.
 */
export function parseServiceUrl(text: string): ServiceUrl {
  if (typeof text !== "string")
    throw new ConfigError(
      `the service URL is of type ${typeof text}; use a string, e.g. "pulsar://localhost:6650"`,
    );
  const { isTls, authority } = splitScheme(text);
  if (text.length > URL_MAX_LENGTH)
    throw new ConfigError(
      `the service URL has ${text.length} characters; use at most ${URL_MAX_LENGTH}`,
    );
  if (authority.includes("@"))
    throw new ConfigError(
      "the service URL has a user or password; use the option authentication: basicAuthentication(user, password)",
    );
  const addresses = authority
    .replace(/\/$/, "")
    .split(",")
    .map((address, at) => parseAddress(address, at, isTls ? DEFAULT_TLS_PORT : DEFAULT_PORT));
  return { isTls, addresses };
}

function splitScheme(text: string): { isTls: boolean; authority: string } {
  const [, scheme, authority] = /^(pulsar|pulsar\+ssl):\/\/(.*)$/is.exec(text) ?? [];
  if (/^https?:\/\//i.test(text)) throw httpRefused(/^https/i.test(text));
  if (scheme === undefined || authority === undefined)
    throw new ConfigError(
      "the service URL begins with neither pulsar:// nor pulsar+ssl://; write e.g. pulsar://localhost:6650",
    );
  return { isTls: scheme.toLowerCase() === "pulsar+ssl", authority };
}

/** Lookups over HTTP are not supported: the binary protocol has the same lookups on the broker's port. */
function httpRefused(isTls: boolean): ConfigError {
  return isTls
    ? new ConfigError(
        "the service URL begins with https://, the address of Pulsar's admin; use the broker's own, e.g. pulsar+ssl://localhost:6651",
      )
    : new ConfigError(
        "the service URL begins with http://, the address of Pulsar's admin; use the broker's own, e.g. pulsar://localhost:6650",
      );
}

function parseAddress(text: string, at: number, defaultPort: number): ServiceAddress {
  const { ipv6, name, port } = ADDRESS.exec(text)?.groups ?? {};
  const host = ipv6 ?? name ?? "";
  const isHost = ipv6 === undefined ? HOST.test(host) : isIPv6(host);
  if (!isHost)
    throw new ConfigError(
      `address ${at + 1} of the service URL has no valid host; write host:port, or [::1]:port for IPv6`,
    );
  return { host, port: port === undefined ? defaultPort : parsePort(port, at) };
}

function parsePort(text: string, at: number): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new ConfigError(
    `address ${at + 1} of the service URL has no valid port; use 1 to 65535, or leave it out`,
  );
}

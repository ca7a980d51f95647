import { ConfigError } from "@sluice/core";
import { isIPv6 } from "node:net";

export interface ServiceAddress {
  /** A name or an IP address; of IPv6 without its brackets. */
  readonly host: string;
  readonly port: number;
}

/** Where a cluster is reached: any of its addresses will do. */
export interface ServiceUrl {
  readonly isTls: boolean;
  /** At least one. */
  readonly addresses: readonly ServiceAddress[];
}

const DEFAULT_PORT = 6650;
const DEFAULT_TLS_PORT = 6651;

const URL_MAX_LENGTH = 4096;

/** Names of hosts as DNS has them, with the underscore that containers like. */
const HOST = /^(?=.{1,253}$)[a-z0-9_]([-a-z0-9_.]*[a-z0-9_])?$/i;

/** A host, in brackets if it has colons, and perhaps a port. */
const ADDRESS = /^(?:\[(?<ipv6>[^\]]*)\]|(?<name>[^:]*))(?::(?<port>.*))?$/s;

/**
 * Reads `pulsar://host:port` or `pulsar+ssl://`, with several addresses between commas if need be.
 * No error repeats any of the text: people put passwords into URLs.
 */
export function parseServiceUrl(text: string): ServiceUrl {
  const { isTls, authority } = splitScheme(text);
  if (text.length > URL_MAX_LENGTH)
    throw new ConfigError(`a service URL has at most ${URL_MAX_LENGTH} characters`);
  if (authority.includes("@"))
    throw new ConfigError(
      "a service URL has no user or password; authentication has its own option",
    );
  const addresses = authority
    .replace(/\/$/, "")
    .split(",")
    .map((address, at) => parseAddress(address, at, isTls ? DEFAULT_TLS_PORT : DEFAULT_PORT));
  return { isTls, addresses };
}

/** The text that `parseServiceUrl` reads, with every port written out. */
export function formatServiceUrl(url: ServiceUrl): string {
  const addresses = url.addresses.map(({ host, port }) =>
    host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`,
  );
  return `${url.isTls ? "pulsar+ssl" : "pulsar"}://${addresses.join(",")}`;
}

function splitScheme(text: string): { isTls: boolean; authority: string } {
  const [, scheme, authority] = /^(pulsar|pulsar\+ssl):\/\/(.*)$/is.exec(text) ?? [];
  if (scheme === undefined || authority === undefined)
    throw new ConfigError(
      "a service URL begins with pulsar:// or pulsar+ssl://, as in pulsar://localhost:6650",
    );
  return { isTls: scheme.toLowerCase() === "pulsar+ssl", authority };
}

function parseAddress(text: string, at: number, defaultPort: number): ServiceAddress {
  const { ipv6, name, port } = ADDRESS.exec(text)?.groups ?? {};
  const host = ipv6 ?? name ?? "";
  const isHost = ipv6 === undefined ? HOST.test(host) : isIPv6(host);
  if (!isHost)
    throw new ConfigError(
      `address ${at + 1} of a service URL has no proper host; write host:port, or [::1]:port for IPv6`,
    );
  return { host, port: port === undefined ? defaultPort : parsePort(port, at) };
}

function parsePort(text: string, at: number): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new ConfigError(
    `address ${at + 1} of a service URL has no proper port; it must be from 1 to 65535, or left out`,
  );
}

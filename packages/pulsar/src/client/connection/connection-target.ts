import type { ServiceAddress } from "../../service-url.ts";
import type { Endpoint } from "./transport.ts";

/** The address of a connection. */
export interface ConnectionTarget {
  readonly endpoint: Endpoint;
  /** The broker behind a Pulsar proxy: the proxy is the endpoint. */
  readonly proxyTo?: Endpoint | undefined;
}

/** `host:port`, as `proxyToBrokerUrl` has it. */
export function addressName({ host, port }: ServiceAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** For errors, events and the key of a connection. */
export function targetName({ endpoint, proxyTo }: ConnectionTarget): string {
  const name = addressName(endpoint);
  return proxyTo === undefined ? name : `${name} for ${addressName(proxyTo)}`;
}

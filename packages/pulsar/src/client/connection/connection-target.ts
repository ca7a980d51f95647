import type { ServiceAddress } from "../../service-url.ts";
import type { Endpoint } from "./transport.ts";

/** Whom to connect to. */
export interface ConnectionTarget {
  readonly endpoint: Endpoint;
  /** The broker that the endpoint, a proxy, is to connect us with. */
  readonly proxyTo?: Endpoint | undefined;
}

/** `host:port`, as a proxy wants it. */
export function addressName({ host, port }: ServiceAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** For people, and for telling connections apart. */
export function targetName({ endpoint, proxyTo }: ConnectionTarget): string {
  const name = addressName(endpoint);
  return proxyTo === undefined ? name : `${name} for ${addressName(proxyTo)}`;
}

import { hostname } from "node:os";

/** Hosts that mean all addresses of this machine; no client can connect to them. */
const ANY_HOST: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** The host that clients are sent to for a server that listens on `host`. */
export function reachableHost(host: string): string {
  return ANY_HOST.has(host) ? hostname() : host;
}

import { isIP } from "node:net";
import { ConfigError } from "@sluice/core";

export interface HttpAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

const FORM = /^(?:http:\/\/)?(\[[0-9a-f:.]+\]|[\w.-]+):(\d{1,5})\/?$/i;
const PORT_MAX = 65_535;

/** Reads "127.0.0.1:7070"; "http://" before it is fine. */
export function parseHttpAddress(text: string): HttpAddress {
  const [, host = "", port = ""] = FORM.exec(text) ?? [];
  if (host === "" || Number(port) > PORT_MAX)
    throw new ConfigError(
      `"${text}" is no address for administration; it must be like 127.0.0.1:7070`,
    );
  return { host: host.replaceAll(/[[\]]/g, ""), port: Number(port) };
}

export function httpUrl({ host, port }: HttpAddress): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * Whether a Host header names this machine in a way that a foreign page cannot: a name of the page's
 * own domain may be made to point to 127.0.0.1 (DNS rebinding), an address or "localhost" may not.
 */
export function isUnforgeableHost(header: string): boolean {
  const host = hostOf(header);
  return host === "localhost" || isIP(host) !== 0;
}

const HOST = /^(?:\[([\da-f:.]+)\]|([^[\]:]+))(?::\d*)?$/;

/** The host of a Host header, without its port and brackets, in lower case; empty if the header has another form. */
export function hostOf(header: string): string {
  const [, address, name = ""] = HOST.exec(header.toLowerCase()) ?? [];
  return address ?? name;
}

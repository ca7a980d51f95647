import { ConfigError } from "@sluice/core";

export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

const FORM = /^(?:http:\/\/)?(\[[0-9a-f:.]+\]|[\w.-]+):(\d{1,5})\/?$/i;
const PORT_MAX = 65_535;
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/i;

/** Reads "127.0.0.1:8080"; "http://" before it is fine. */
export function parseListenAddress(text: string): ListenAddress {
  const [, host = "", port = ""] = FORM.exec(text) ?? [];
  if (host === "" || Number(port) > PORT_MAX)
    throw new ConfigError(
      `listen is ${JSON.stringify(text)}; use host and port, e.g. "127.0.0.1:8080"`,
    );
  return { host: host.replaceAll(/[[\]]/g, ""), port: Number(port) };
}

/** Whether only this machine reaches the address. */
export function isLoopback({ host }: ListenAddress): boolean {
  return LOOPBACK.test(host);
}

export function urlOf({ host, port }: ListenAddress, path: string): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}${path}`;
}

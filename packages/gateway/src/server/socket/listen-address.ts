import { ConfigError } from "@sluice/core";

/** Where a broker listens. */
export interface ListenAddress {
  readonly isTls: boolean;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

const FORM = /^(pulsar|pulsar\+ssl):\/\/(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/i;
const PORT_MAX = 65_535;

export function parseListenAddress(url: string): ListenAddress {
  const [, scheme = "", host = "", portText] = FORM.exec(url) ?? [];
  const isTls = scheme.toLowerCase() === "pulsar+ssl";
  const port = portText === undefined ? (isTls ? 6651 : 6650) : Number(portText);
  if (host === "" || port > PORT_MAX)
    throw new ConfigError(
      `"${url}" is no address to listen on; it must be like pulsar://127.0.0.1:6650 or pulsar+ssl://127.0.0.1:6651`,
    );
  return { isTls, host: host.replaceAll(/[[\]]/g, ""), port };
}

/** Whether only this machine reaches the host. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

export function serviceUrl({ isTls, host, port }: ListenAddress): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return `${isTls ? "pulsar+ssl" : "pulsar"}://${name}:${port}`;
}

import { parseServiceUrl } from "@sluice/pulsar/wire";

/** The address of a broker. */
export interface Target {
  /** A host name or an IP address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Longer texts are no address. */
const TEXT_CHARS_MAX = 300;

/** The broker that a client wants to be connected to, as "host:port"; undefined if it is none. */
export function parseTarget(text: string): Target | undefined {
  if (text.length > TEXT_CHARS_MAX || !/:\d+$/.test(text)) return undefined;
  return targetOfUrl(`pulsar://${text}`);
}

/** The broker that an answer names by its URL; undefined if there is none. */
export function targetOfUrl(url: string | undefined): Target | undefined {
  if (url === undefined || url === "") return undefined;
  try {
    const [first, ...others] = parseServiceUrl(url).addresses;
    return others.length > 0 ? undefined : first;
  } catch {
    return undefined;
  }
}

/** As clients write it: "host:port", IPv6 in brackets. */
export function targetName({ host, port }: Target): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

export function isSameTarget(one: Target, other: Target): boolean {
  return one.port === other.port && one.host.toLowerCase() === other.host.toLowerCase();
}

import { BlockList, isIPv6 } from "node:net";

/** Addresses that are not of the public internet. */
interface AddressRange {
  readonly name: string;
  readonly isLocalNetwork: boolean;
  readonly addresses: BlockList;
}

/**
 * A local network may be the one that the upstream is in. The others are never a broker's: 169.254.0.0/16
 * has the credentials of cloud machines, and the IPv6 forms of IPv4 addresses would hide all of these.
 */
const RANGES: readonly AddressRange[] = [
  rangeOf("loopback", true, ["127.0.0.0/8", "::1/128"]),
  rangeOf("private", true, ["10.0.0.0/8"]),
  rangeOf("private", true, ["172.16.0.0/12"]),
  rangeOf("private", true, ["192.168.0.0/16"]),
  rangeOf("private", true, ["100.64.0.0/10"]),
  rangeOf("private", true, ["fc00::/7"]),
  rangeOf("link-local", false, ["169.254.0.0/16", "fe80::/10"]),
  rangeOf("multicast", false, ["224.0.0.0/4", "ff00::/8"]),
  rangeOf("unspecified", false, ["0.0.0.0/8", "::/128"]),
  rangeOf("reserved", false, ["192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4"]),
];

/** `BlockList` takes every IPv4 address for one of the first network. */
const TRANSLATED = rangeOf("translated", false, ["::ffff:0:0/96", "64:ff9b::/96", "2002::/16"]);

/** The range that an address is in; undefined for a public one. */
export function specialRangeOf(address: string): AddressRange | undefined {
  const range = RANGES.find(({ addresses }) => isWithin(addresses, address));
  if (range !== undefined) return range;
  return isIPv6(address) && isWithin(TRANSLATED.addresses, address) ? TRANSLATED : undefined;
}

export function isWithin(addresses: BlockList, address: string): boolean {
  return addresses.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

/** An IPv4 address that was written as IPv6, such as ::ffff:127.0.0.1, as IPv4. */
export function plainAddress(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** Adds "10.0.0.0/8", or one address. False if the text is neither. */
export function addAddresses(list: BlockList, text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  try {
    if (bits === undefined) list.addAddress(address, family);
    else if (/^\d{1,3}$/.test(bits) && rest.length === 0)
      list.addSubnet(address, Number(bits), family);
    else return false;
    return true;
  } catch {
    return false;
  }
}

function rangeOf(name: string, isLocalNetwork: boolean, parts: readonly string[]): AddressRange {
  const addresses = new BlockList();
  for (const part of parts) addAddresses(addresses, part);
  return { name, isLocalNetwork, addresses };
}

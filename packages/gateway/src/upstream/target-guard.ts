import { BlockList } from "node:net";
import { ConfigError } from "@sluice/core";
import type { ServiceUrl } from "@sluice/pulsar/wire";
import { isSameTarget, parseTarget, targetName } from "../relay/target.ts";
import type { Target } from "../relay/target.ts";
import { addAddresses, isWithin, specialRangeOf } from "./address-ranges.ts";

/** Brokers beside those of the service URL that clients may be connected to. */
export interface AllowedTargets {
  /** "host:port" each. Brokers that lookups name need not be listed if they use the ports below. */
  readonly hosts?: readonly string[];
  /** Addresses that brokers may have although they are local: "10.0.0.0/8", "127.0.0.1". */
  readonly addresses?: readonly string[];
}

/** Pulsar's own ports. Brokers that lookups name must use these, or a port of the service URL. */
const BROKER_PORTS: readonly number[] = [6650, 6651];

/** Brokers that lookups have named and that are remembered, the latest: some 100 bytes each. */
const NAMED_MAX = 1_024;

/**
 * Decides which brokers clients may be connected to. A client names its broker in CONNECT; without
 * a guard it could reach every address that the gateway reaches (CVE-2022-24280).
 */
export class TargetGuard {
  readonly #service: readonly Target[];
  readonly #hosts: readonly Target[];
  readonly #ports: ReadonlySet<number>;
  readonly #addresses = new BlockList();
  readonly #named = new Set<string>();

  constructor(service: ServiceUrl, { hosts = [], addresses = [] }: AllowedTargets = {}) {
    this.#service = service.addresses;
    this.#hosts = hosts.map(hostOf);
    this.#ports = new Set([...BROKER_PORTS, ...service.addresses.map(({ port }) => port)]);
    addAll(this.#addresses, addresses);
  }

  /** The upstream itself has named this broker in the answer to a lookup. */
  name(target: Target): void {
    const name = targetName(target).toLowerCase();
    this.#named.delete(name);
    this.#named.add(name);
    if (this.#named.size <= NAMED_MAX) return;
    for (const oldest of this.#named) {
      this.#named.delete(oldest);
      break;
    }
  }

  /** Why no client may be connected to this broker; undefined if one may. Asked before DNS is. */
  refusalOf(target: Target): string | undefined {
    const isListed = [...this.#service, ...this.#hosts].some((one) => isSameTarget(one, target));
    if (isListed) return undefined;
    const name = targetName(target);
    if (!this.#named.has(name.toLowerCase()))
      return `${name} is no broker of this gateway's upstream; look the topic up again, or add it to allow.hosts`;
    if (this.#ports.has(target.port)) return undefined;
    return `${name} has a port that brokers do not use; add it to allow.hosts`;
  }

  /**
   * Why this address of a host may not be connected to; undefined if it may. `home` are the addresses of
   * the service URL: brokers may be in the same local network.
   */
  async refusalOfAddress(
    target: Target,
    address: string,
    home: () => Promise<readonly string[]>,
  ): Promise<string | undefined> {
    if (this.#isServiceHost(target) || isWithin(this.#addresses, address)) return undefined;
    const range = specialRangeOf(address);
    if (range === undefined) return undefined;
    if (range.isLocalNetwork && (await home()).some((one) => isWithin(range.addresses, one)))
      return undefined;
    return `${targetName(target)} has the ${range.name} address ${address}; add it to allow.addresses if a broker is there`;
  }

  #isServiceHost({ host }: Target): boolean {
    return this.#service.some((one) => one.host.toLowerCase() === host.toLowerCase());
  }
}

/** @throws ConfigError if a target cannot be used. */
export function requireTargets({ hosts = [], addresses = [] }: AllowedTargets): void {
  for (const host of hosts) hostOf(host);
  addAll(new BlockList(), addresses);
}

function addAll(list: BlockList, addresses: readonly string[]): void {
  for (const text of addresses)
    if (!addAddresses(list, text))
      throw new ConfigError(
        `allow.addresses has "${text}"; write an IP address, or a network like 10.0.0.0/8`,
      );
}

function hostOf(text: string): Target {
  const target = parseTarget(text);
  if (target === undefined)
    throw new ConfigError(`allow.hosts has "${text}"; write host:port, e.g. broker-2:6650`);
  return target;
}

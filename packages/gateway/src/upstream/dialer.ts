import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Socket } from "node:net";
import type { Timer } from "@sluice/core";
import type { ServiceUrl } from "@sluice/pulsar/wire";
import { targetName } from "../relay/target.ts";
import type { Target } from "../relay/target.ts";
import { plainAddress } from "./address-ranges.ts";
import type { OpenSocket } from "./open-socket.ts";
import { RefusedTargetError, UpstreamError } from "./upstream-error.ts";
import type { TargetGuard } from "./target-guard.ts";

/** All addresses of a host. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface DialerDependencies {
  readonly timer: Timer;
  readonly guard: TargetGuard;
  readonly open: OpenSocket;
  readonly resolve: Resolve;
}

export interface DialedBroker {
  readonly socket: Socket;
  readonly target: Target;
  /** The addresses that the broker is known by. */
  readonly names: readonly Target[];
}

/** Addresses of one host that are tried. */
const ADDRESSES_MAX = 8;

/** Connects to brokers: to those of the service URL in turn, or to one that a client has named. */
export class Dialer {
  readonly #service: ServiceUrl;
  readonly #connectMs: number;
  readonly #dependencies: DialerDependencies;
  /** The address of the service URL that worked last. */
  #serviceAt = 0;

  constructor(service: ServiceUrl, connectMs: number, dependencies: DialerDependencies) {
    this.#service = service;
    this.#connectMs = connectMs;
    this.#dependencies = dependencies;
  }

  /**
   * Rejects with a `RefusedTargetError` before any socket is opened, or with an `UpstreamError` once no
   * address could be reached.
   */
  async dial(target: Target | undefined, signal: AbortSignal): Promise<DialedBroker> {
    if (target !== undefined) return this.#dialTarget(target, signal);
    const { addresses } = this.#service;
    let last: unknown;
    for (let tries = 0; tries < addresses.length; tries++) {
      const next = addresses[this.#serviceAt % addresses.length];
      if (next === undefined) break;
      try {
        return await this.#dialTarget(next, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        last = error;
        this.#serviceAt++;
      }
    }
    throw last;
  }

  async #dialTarget(target: Target, signal: AbortSignal): Promise<DialedBroker> {
    const { guard } = this.#dependencies;
    const refusal = guard.refusalOf(target);
    if (refusal !== undefined) throw new RefusedTargetError(refusal);
    let last: unknown = new Error("the name has no address");
    const addresses = await this.#addressesOf(target, signal);
    let home: Promise<readonly string[]> | undefined;
    const homeOnce = (): Promise<readonly string[]> => (home ??= this.#home(signal));
    for (const address of addresses) {
      const refused = await guard.refusalOfAddress(target, address, homeOnce);
      if (refused !== undefined) throw new RefusedTargetError(refused);
    }
    for (const address of addresses) {
      try {
        const socket = await this.#open({ ...target, address }, signal);
        return { socket, target, names: [target, { host: address, port: target.port }] };
      } catch (error) {
        if (signal.aborted) throw error;
        last = error;
      }
    }
    throw new UpstreamError(targetName(target), last);
  }

  /** The address that was checked is the one that is connected to: the name is not resolved again. */
  #open(
    endpoint: { readonly host: string; readonly address: string; readonly port: number },
    signal: AbortSignal,
  ): Promise<Socket> {
    const { open } = this.#dependencies;
    return this.#inTime("no connection", signal, (either) => open(endpoint, either));
  }

  async #addressesOf(target: Target, signal: AbortSignal): Promise<readonly string[]> {
    if (isIP(target.host) !== 0) return [plainAddress(target.host)];
    const { resolve } = this.#dependencies;
    try {
      const addresses = await this.#inTime("no answer of DNS", signal, (either) =>
        Promise.race([resolve(target.host), rejectionOf(either)]),
      );
      return addresses.slice(0, ADDRESSES_MAX).map(plainAddress);
    } catch (error) {
      throw new UpstreamError(targetName(target), error);
    }
  }

  /** The addresses of the service URL. */
  async #home(signal: AbortSignal): Promise<readonly string[]> {
    const found = await Promise.allSettled(
      this.#service.addresses.map((address) => this.#addressesOf(address, signal)),
    );
    return found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  }

  /** Does the work with a signal that ends it after `connectMs`, or when the client is gone. */
  async #inTime<T>(
    what: string,
    signal: AbortSignal,
    work: (either: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const late = new AbortController();
    const done = new AbortController();
    void this.#dependencies.timer
      .sleep(this.#connectMs, done.signal)
      .then(() => late.abort(new Error(`${what} in ${this.#connectMs} ms`)))
      .catch(() => undefined);
    try {
      return await work(AbortSignal.any([signal, late.signal]));
    } finally {
      done.abort();
    }
  }
}

/** Rejects once the signal is aborted, and never resolves. */
function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}

/** By the system, as other programs see names. */
export async function resolveBySystem(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}

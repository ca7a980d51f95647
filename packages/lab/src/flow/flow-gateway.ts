import type { Random, Reason } from "@sluice/core";
import { Broker, prepareEmbeddedServer, sessionLimits } from "@sluice/gateway/internal";
import type { EmbeddedServer } from "@sluice/gateway/internal";
import type { LimitsBlock } from "../file/limits/limits.ts";
import type { VirtualTime } from "../simulation/engine/virtual-time.ts";
import { SERVICE_URL, WALL_START_MS } from "./flow-client.ts";
import type { LimitsChange } from "./flow-plan.ts";
import { DelayedStore } from "./network/delayed-store.ts";
import type { ServerEnd } from "./network/server-end.ts";

type Ingress = EmbeddedServer["ingress"];
type LimitTarget = Parameters<Ingress["limits"]["set"]>[0];

export interface GatewayOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly limits: LimitsBlock;
  readonly storeLatencyMs: number;
  /** Messages that a topic has begun to store. */
  readonly onAccepted: (topic: string, messages: number) => void;
}

/** A connection as the gateway sees it. */
export interface ConnectionView {
  /** Bytes that wait for a limit. */
  readonly heldBytes: number;
  /** Why the connection is not read, oldest first. */
  readonly reasons: readonly Reason[];
}

/** Events of a simulated broker are not reported. */
function observe(): void {}

/** The real gateway with its embedded broker, in virtual time. */
export class FlowGateway {
  /** Takes the connections of clients. */
  readonly accept: (socket: ServerEnd) => void;
  readonly #time: VirtualTime;
  readonly #embedded: EmbeddedServer;

  constructor({ time, random, limits, storeLatencyMs, onAccepted }: GatewayOptions) {
    const world = {
      timer: time,
      clock: time,
      wallClock: { now: (): number => WALL_START_MS + time.now() },
      random,
      nextTurn: time.nextTurn,
    };
    const { memory: memoryBytesMax, ...rates } = limits;
    this.#time = time;
    this.#embedded = prepareEmbeddedServer({ limits: rates, memoryBytesMax, observe }, world);
    const store = new DelayedStore({ time, latencyMs: storeLatencyMs, onAppend: onAccepted });
    const { memory } = this.#embedded;
    const server = this.#embedded.serve({
      broker: new Broker({ store, ...world, memory, observe }),
      authenticator: undefined,
      facts: {
        limits: sessionLimits({}),
        authMethods: [],
        permissions: undefined,
        serviceUrl: SERVICE_URL,
        serviceUrlTls: undefined,
      },
    });
    this.accept = (socket) => server.accept(socket);
  }

  /** Bytes of the budget that are in use. */
  get memoryBytes(): number {
    return this.#embedded.memory.bytes;
  }

  /** By the address of the client. */
  connections(): ReadonlyMap<string, ConnectionView> {
    return new Map([...this.#embedded.ingress.openConnections].map((each) => [each.address, each]));
  }

  /** The producers whose messages wait for a limit now, by name. */
  waiting(): ReadonlyMap<string, Reason> {
    const reasons = new Map<string, Reason>();
    for (const { facts, level } of this.#embedded.ingress.waitingFlows)
      if (level !== undefined) reasons.set(facts.producer, level.reason);
    return reasons;
  }

  /** Sets the limits that are named, at once. */
  change({ topics, groups, broker }: LimitsChange): void {
    for (const [name, limit] of Object.entries(topics)) this.#set({ level: "topic", name }, limit);
    for (const [name, limit] of Object.entries(groups)) this.#set({ level: "group", name }, limit);
    if (broker !== undefined) this.#set({ level: "broker" }, broker);
  }

  #set(target: LimitTarget, limit: LimitsChange["broker"] & {}): void {
    const { limits } = this.#embedded.ingress;
    if (limit === "none") limits.unset(target, this.#time.now());
    else limits.set(target, limit, this.#time.now());
  }
}

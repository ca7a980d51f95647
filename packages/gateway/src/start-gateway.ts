import { requireDuration, requireKnownKeys } from "@sluice/core/internal";
import { ThrottleCodec } from "@sluice/pulsar/wire";
import type { AdministeredGateway } from "./admin/administered-broker.ts";
import { CLUSTER } from "./admin/cluster.ts";
import { administerIngress } from "./administer-ingress.ts";
import { GATEWAY_OPTIONS, upstreamOf } from "./gateway-options.ts";
import type { StartGatewayOptions } from "./gateway-options.ts";
import { Dispatch } from "./ingress/dispatch/dispatch.ts";
import { sharedTargets } from "./ingress/fleet/fleet-settings.ts";
import { Ingress } from "./ingress/ingress.ts";
import { throttleCodec } from "./ingress/settings.ts";
import { FrameRoom } from "./memory/frame-room.ts";
import { guarded } from "./observe/guarded.ts";
import { PolicyBook } from "./policy/policy-book.ts";
import { decodeClientFrame } from "./relay/relay-commands.ts";
import type { RelayFacts } from "./relay/relay-context.ts";
import { createDoor, createMemory, listenAddresses, urlsOf } from "./server/front.ts";
import { RunningRelay } from "./running-gateway.ts";
import type { RunningGateway } from "./running-gateway.ts";
import { Server } from "./server/server.ts";
import { allReleasing } from "./server/socket/turns/ingress-turns.ts";
import { sessionLimits } from "./session/limits.ts";
import { systemWorld } from "./start-broker.ts";
import type { BrokerWorld } from "./broker-world.ts";
import { openGatewayStore } from "./storage/store/gateway-store.ts";
import { Dialer, resolveBySystem } from "./upstream/dialer.ts";
import type { Resolve } from "./upstream/dialer.ts";
import { keepSend } from "./upstream/ingress-admission.ts";
import type { RelayedSend } from "./upstream/ingress-admission.ts";
import { LookupFollower } from "./upstream/lookup-follower.ts";
import { createOpenSocket } from "./upstream/open-socket.ts";
import type { OpenSocket } from "./upstream/open-socket.ts";
import { RelayBackend } from "./upstream/relay-backend.ts";
import { TargetGuard } from "./upstream/target-guard.ts";
import { UpstreamWatch } from "./upstream/upstream-watch.ts";

/** Time, chance and the network, for tests. */
export interface GatewayWorld extends BrokerWorld {
  readonly resolve: Resolve;
  /** Opens sockets to brokers, instead of the network. */
  readonly open?: OpenSocket;
}

const CONNECT_MS = 5_000;
const HANDSHAKE_MS = 30_000;
const DRAIN_MS = 5_000;

/** The part of the budget for large messages on their way to clients: 9 of 5 MiB at a time by default. */
const FRAME_ROOM_PART = 1 / 4;

/**
 * Bytes that either side may leave unread: more than for the embedded broker, because a broker and its
 * client send batches at the same time. Raised, a slow client costs more memory.
 */
const OUTBOUND = { outboundHighBytes: 262_144, outboundLowBytes: 131_072 };

/** Starts a gateway in front of a Pulsar cluster. It runs until it is closed. */
export async function startGateway(
  options: StartGatewayOptions,
  world: GatewayWorld = { ...systemWorld(), resolve: resolveBySystem },
): Promise<RunningGateway> {
  requireKnownKeys("gateway", options, GATEWAY_OPTIONS);
  const { upstream, service } = upstreamOf(options.upstream);
  const { drainMs = DRAIN_MS } = options;
  requireDuration("drainMs", drainMs, 0);
  const { limits: publishLimits = {} } = options;
  const shared = sharedTargets(options);
  // Most gateways share no limit: the code for it takes 4 MB.
  const sharing = options.store && (await import("./ingress/fleet/open-shares.ts"));
  const throttle = throttleCodec(publishLimits);
  const limits = sessionLimits({ ...OUTBOUND, ...options.session });
  // The brokers check who their clients are: that is not this process' task, and not its secret.
  const addresses = listenAddresses(options, "upstream");
  const observe = guarded(options.observe ?? (() => {}));
  const memory = createMemory(options, observe);
  const guard = new TargetGuard(service, upstream.allow);
  const tls = service.isTls ? (upstream.tls ?? {}) : undefined;
  const dialer = new Dialer(service, upstream.connectMs ?? CONNECT_MS, {
    ...world,
    guard,
    open: world.open ?? createOpenSocket(tls),
  });
  // Limits that are wrong are refused before anything is opened.
  const ingress = new Ingress<RelayedSend>(publishLimits, {
    memory,
    keep: keepSend,
    onWakeAt: () => server.onWakeAt(),
    onDecision: () => decisions.poke(),
    nowMs: world.clock.now(),
  });
  const dispatch = new Dispatch(publishLimits, {
    onWakeAt: () => server.onWakeAt(),
    nowMs: world.clock.now(),
  });
  const store = await openGatewayStore(options.data, observe);
  const door = createDoor(options, limits, { observe, clock: world.clock });
  const policies = await openAll(async () => {
    const book = await PolicyBook.open(store.documents, CLUSTER, world.wallClock);
    for (const address of addresses) await door.open(address);
    return book;
  }, [door, store]);
  const urls = urlsOf(door, options);
  const facts: RelayFacts = {
    limits,
    lookup: upstream.lookup ?? "auto",
    serviceUrl: urls.find((url) => url.startsWith("pulsar://")),
    serviceUrlTls: urls.find((url) => url.startsWith("pulsar+ssl://")),
    isUpstreamTls: service.isTls,
    handshakeMs: upstream.handshakeMs ?? HANDSHAKE_MS,
    proxyVersion: upstream.proxyVersion,
    throttle: throttle ?? new ThrottleCodec(),
    hasNotices: throttle !== undefined,
  };
  const { decisions, ...books } = administerIngress(
    { ingress, dispatch },
    publishLimits,
    policies,
    { ...world, memory, observe },
  );
  const watch = new UpstreamWatch(observe);
  const follower = new LookupFollower({ ...world, dialer, guard, isTls: service.isTls });
  const relays = {
    ...world,
    facts,
    memory,
    observe,
    guard,
    dialer,
    follower,
    watch,
    frameRoom: new FrameRoom(memory.bytesMax * FRAME_ROOM_PART),
    ingress,
    dispatch,
    flushTurns: () => server.flushTurns,
    relieve: () => server.guard.relieve(),
  };
  const server = new Server({
    ...world,
    memory,
    observe,
    limits,
    ingress: allReleasing([ingress, dispatch]),
    decode: decodeClientFrame,
    openBackend: (wire) => new RelayBackend(wire, relays),
  });
  door.lead(server);
  const shares =
    options.store &&
    sharing?.openShares(shared, options.fleet ?? {}, {
      ...world,
      limits: ingress.limits,
      store: options.store,
      tell: observe,
    });
  const administered: AdministeredGateway = {
    upstream: upstream.url,
    connections: () => server.stats(),
    roles: undefined,
    ...books,
    shares,
  };
  const parts = { door, server, watch, ingress, shares, administered, decisions, store };
  return new RunningRelay(parts, urls, { drainMs, timer: world.timer });
}

/** The result; after a failure everything that was opened before is closed. */
async function openAll<T>(
  open: () => Promise<T>,
  opened: readonly { close(): Promise<void> }[],
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    await Promise.all(opened.map((one) => one.close()));
    throw error;
  }
}

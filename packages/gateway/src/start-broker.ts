import { ConfigError } from "@sluice/core";
import type { Clock } from "@sluice/core";
import { requireKnownKeys, requireWhole } from "@sluice/core/internal";
import {
  createCachedClock,
  nextTurn,
  systemRandom,
  systemTimer,
  systemWallClock,
} from "@sluice/core/system";
import { Permissions } from "./auth/permissions.ts";
import { createTokenAuthenticator } from "./auth/token-authenticator.ts";
import type { TokenAuthenticator, TokenAuthenticatorOptions } from "./auth/token-authenticator.ts";
import type { AdministeredBroker } from "./admin/administered-broker.ts";
import { administerIngress } from "./administer-ingress.ts";
import { CLUSTER } from "./admin/cluster.ts";
import { Broker } from "./broker/broker.ts";
import { BROKER_OPTIONS } from "./broker-options.ts";
import type { StartBrokerOptions, TokenOptions } from "./broker-options.ts";
import type { BrokerWorld } from "./broker-world.ts";
import { prepareEmbeddedServer } from "./embedded-server.ts";
import { PolicyBook } from "./policy/policy-book.ts";
import { resolveSettings } from "./topic/settings.ts";
import type { ByteBudget } from "./memory/byte-budget.ts";
import type { BrokerObserver } from "./observe/broker-event.ts";
import { guarded } from "./observe/guarded.ts";
import { createDoor, listenAddresses, urlsOf } from "./server/front.ts";
import { sharedTargets } from "./ingress/fleet/fleet-settings.ts";
import { RunningEmbedded } from "./running-broker.ts";
import type { RunningBroker } from "./running-broker.ts";
import { sessionLimits } from "./session/limits.ts";
import type { BrokerStore } from "./storage/store/broker-store.ts";
import { FileBrokerStore } from "./storage/store/file-broker-store.ts";
import { MemoryBrokerStore } from "./storage/store/memory-broker-store.ts";

/** Starts a broker that real Pulsar clients can use. It runs until it is closed. */
export async function startBroker(
  options: StartBrokerOptions,
  world: BrokerWorld = systemWorld(),
): Promise<RunningBroker> {
  requireKnownKeys("broker", options, BROKER_OPTIONS);
  const addresses = listenAddresses(options, options.token === undefined ? "none" : "token");
  const limits = sessionLimits(options.session);
  const { partitions = {} } = options;
  for (const [topic, count] of Object.entries(partitions))
    requireWhole(`partitions of ${topic}`, count, 1);
  const authenticator = authenticatorOf(options.token, world.wallClock);
  const configured = permissionsOf(options);
  const observe = guarded(options.observe ?? (() => {}));
  const door = createDoor(options, limits, { observe, clock: world.clock });
  const { limits: given = {} } = options;
  const shared = sharedTargets(options);
  // Most gateways share no limit: the code for it takes 4 MB.
  const sharing = options.store && (await import("./ingress/fleet/open-shares.ts"));
  const prepared = prepareEmbeddedServer(
    { ...options, observe, onDecision: () => decisions.poke() },
    world,
  );
  const { memory, ingress, dispatch } = prepared;
  const { broker, policies } = await openBroker(options, { ...world, memory, observe });
  const { decisions, ...books } = administerIngress(prepared, given, policies, {
    ...world,
    memory,
    observe,
  });
  const permissions = configured?.with(policies);
  try {
    await makePartitions(broker, partitions);
    for (const address of addresses) await door.open(address);
  } catch (error) {
    await Promise.all([door.close(), broker.close()]);
    throw error;
  }
  const urls = urlsOf(door, options);
  const facts = {
    limits,
    authMethods: authenticator === undefined ? [] : ["token"],
    permissions,
    serviceUrl: urls.find((url) => url.startsWith("pulsar://")),
    serviceUrlTls: urls.find((url) => url.startsWith("pulsar+ssl://")),
  };
  const { schemas } = broker;
  const server = prepared.serve({ broker, facts, authenticator });
  door.lead(server);
  const shares =
    options.store &&
    sharing?.openShares(shared, options.fleet ?? {}, {
      ...world,
      limits: ingress.limits,
      store: options.store,
      tell: observe,
    });
  const administered: AdministeredBroker = {
    upstream: "embedded",
    broker,
    connections: () => server.stats(),
    schemas,
    policies,
    isAuthorizationOn: permissions !== undefined,
    roles: authenticator && {
      authenticate: (token) => authenticator.authenticate(token),
      mayAdminister: (role) => permissions?.isAdmin(role) ?? true,
      visible: (role, topics) => permissions?.visible(role, "lookup", topics) ?? topics,
    },
    settings: resolveSettings(options.broker ?? {}),
    dispatch,
    shares,
    ...books,
  };
  return new RunningEmbedded(
    { door, server, broker, shares, decisions, ingress },
    urls,
    administered,
  );
}

function permissionsOf({ roles, token }: StartBrokerOptions): Permissions | undefined {
  if (roles === undefined) return undefined;
  if (token === undefined)
    throw new ConfigError("roles need token, because a client's role is in its token; add token");
  return new Permissions(roles);
}

async function openBroker(
  { data, broker: settings }: StartBrokerOptions,
  world: BrokerWorld & { readonly memory: ByteBudget; readonly observe: BrokerObserver },
): Promise<{ readonly broker: Broker; readonly policies: PolicyBook }> {
  const store = await openStore(data, world.observe);
  try {
    const policies = await PolicyBook.open(store.documents, CLUSTER, world.wallClock);
    return { broker: new Broker({ store, policies, ...world }, settings), policies };
  } catch (error) {
    await store.close();
    throw error;
  }
}

export function systemWorld(): BrokerWorld {
  return {
    timer: systemTimer,
    clock: createCachedClock(),
    wallClock: systemWallClock,
    random: systemRandom,
    nextTurn,
  };
}

function authenticatorOf(
  token: TokenOptions | undefined,
  wallClock: Clock,
): TokenAuthenticator | undefined {
  if (token === undefined) return undefined;
  return createTokenAuthenticator({ ...token, wallClock } as TokenAuthenticatorOptions);
}

async function openStore(
  data: StartBrokerOptions["data"],
  observe: BrokerObserver,
): Promise<BrokerStore> {
  if (data === "memory") return new MemoryBrokerStore();
  return FileBrokerStore.open(data.folder, { observe });
}

async function makePartitions(
  broker: Broker,
  partitions: Readonly<Record<string, number>>,
): Promise<void> {
  for (const [topic, count] of Object.entries(partitions)) {
    const former = broker.partitionsOf(topic);
    if (former === 0) await broker.createPartitionedTopic(topic, count);
    // Partitions cannot be taken away, and an administrator may have added some.
    else if (count > former) await broker.growPartitions(topic, count);
  }
}

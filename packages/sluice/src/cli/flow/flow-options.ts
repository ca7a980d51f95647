import { startBroker, startGateway } from "@sluice/gateway";
import type { PoolStore } from "@sluice/fleet";
import type {
  BrokerObserver,
  FrontOptions,
  IngressSettings,
  StartBrokerOptions,
  TokenOptions,
  UpstreamOptions,
} from "@sluice/gateway";
import type { Flow, FlowAuth, FlowGateway } from "../../flow/flow.ts";
import type { FlowUpstream } from "../../flow/schema/upstream.ts";
import type { LimitsBlock } from "@sluice/lab/file";
import { bearerTokenOf, contentOf, publicKeyOf } from "../../file/content.ts";
import type { RunningServer, Served } from "../command/serve.ts";

/** The administration of a flow file; reads the token that it names. */
export async function adminOptionsOf({ admin }: Flow): Promise<Served["admin"]> {
  if (admin === undefined) return undefined;
  const token = admin.tokenFile === undefined ? undefined : await bearerTokenOf(admin.tokenFile);
  return {
    listen: admin.listen,
    ...(admin.advertisedHost !== undefined && { advertisedHost: admin.advertisedHost }),
    ...(token !== undefined && { token }),
    readWithoutToken: admin.readWithoutToken,
  };
}

/** Starts a gateway. Gateways of one store and name share limits. */
export type StartServer = (
  observe: BrokerObserver,
  store: PoolStore | undefined,
) => Promise<RunningServer>;

/** How to start the gateway of a flow file; reads the keys and certificates that it names. */
export async function gatewayStartOf(name: string, gateway: FlowGateway): Promise<StartServer> {
  const { upstream, data, fleet } = gateway;
  const sharedBy = (store: PoolStore | undefined): Pick<StartBrokerOptions, "store" | "fleet"> =>
    store === undefined ? {} : { store, fleet: { ...fleet, name } };
  if (upstream === "embedded") {
    const options = await brokerOptionsOf(gateway);
    return (observe, store) => startBroker({ ...options, ...sharedBy(store), observe });
  }
  const options = {
    ...(await frontOptionsOf(gateway)),
    upstream: await upstreamOptionsOf(upstream),
    data,
  };
  return (observe, store) => startGateway({ ...options, ...sharedBy(store), observe });
}

/** What clients see, whatever is behind it. */
async function frontOptionsOf({
  listen,
  advertisedHost,
  allowAnonymous,
  tls,
  limits,
  connections,
}: FlowGateway): Promise<FrontOptions & { readonly limits?: IngressSettings }> {
  return {
    listen,
    allowAnonymous,
    ...(advertisedHost !== undefined && { advertisedHost }),
    ...(tls !== undefined && {
      tls: { cert: await contentOf(tls.cert), key: await contentOf(tls.key) },
    }),
    ...(connections !== undefined && { connections: withoutUndefined(connections) }),
    ...(limits !== undefined && limitOptionsOf(limits)),
  };
}

async function upstreamOptionsOf({ tls, allow, ...given }: FlowUpstream): Promise<UpstreamOptions> {
  return {
    ...withoutUndefined(given),
    ...(allow !== undefined && { allow: withoutUndefined(allow) }),
    ...(tls !== undefined && {
      tls: {
        ca: await contentIfGiven(tls.ca),
        cert: await contentIfGiven(tls.cert),
        key: await contentIfGiven(tls.key),
      },
    }),
  };
}

async function contentIfGiven(file: string | undefined): Promise<Buffer | undefined> {
  return file === undefined ? undefined : contentOf(file);
}

async function brokerOptionsOf(gateway: FlowGateway): Promise<StartBrokerOptions> {
  const { data, partitions, retention, messageTtl, auth } = gateway;
  return {
    ...(await frontOptionsOf(gateway)),
    data,
    partitions,
    broker: {
      ...(retention !== undefined && {
        retention: {
          sizeMaxBytes: retention.size ?? Infinity,
          ageMaxMs: retention.age ?? Infinity,
        },
      }),
      ...(messageTtl !== undefined && { messageTtlMs: messageTtl }),
    },
    ...(auth !== undefined && { token: await tokenOf(auth) }),
    ...(auth?.roles !== undefined && { roles: auth.roles }),
  };
}

/** The defaults hold for keys that are not in the file. */
function withoutUndefined<T extends object>(
  given: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

function limitOptionsOf({
  memory,
  ...limits
}: LimitsBlock): Pick<StartBrokerOptions, "limits" | "memoryBytesMax"> {
  return { limits, ...(memory !== undefined && { memoryBytesMax: memory }) };
}

async function tokenOf(auth: FlowAuth): Promise<TokenOptions> {
  const { tokenSecretFile, tokenPublicKeyFile = "", allowNoExpiry } = auth;
  return tokenSecretFile === undefined
    ? { publicKey: await publicKeyOf(tokenPublicKeyFile), allowNoExpiry }
    : { secretKey: await contentOf(tokenSecretFile), allowNoExpiry };
}

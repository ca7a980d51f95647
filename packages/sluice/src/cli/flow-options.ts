import type { StartBrokerOptions, TokenOptions } from "@sluice/gateway";
import type { Flow, FlowAuth, FlowGateway } from "../flow/flow-file.ts";
import { bearerTokenOf, contentOf, publicKeyOf } from "./serve.ts";
import type { Served } from "./serve.ts";

/** What to run for a flow file; reads the keys and certificates that it names. */
export async function servedOf({ gateway, admin }: Flow, json: boolean): Promise<Served> {
  const token = admin?.tokenFile === undefined ? undefined : await bearerTokenOf(admin.tokenFile);
  return {
    broker: await brokerOptionsOf(gateway),
    admin: admin && {
      listen: admin.listen,
      ...(admin.advertisedHost !== undefined && { advertisedHost: admin.advertisedHost }),
      ...(token !== undefined && { token }),
    },
    json,
  };
}

async function brokerOptionsOf(gateway: FlowGateway): Promise<StartBrokerOptions> {
  const { listen, advertisedHost, data, partitions, retention, auth, tls } = gateway;
  return {
    listen,
    data,
    partitions,
    allowAnonymous: gateway.allowAnonymous,
    ...(advertisedHost !== undefined && { advertisedHost }),
    ...(retention !== undefined && {
      broker: {
        retention: {
          sizeMaxBytes: retention.size ?? Infinity,
          ageMaxMs: retention.age ?? Infinity,
        },
      },
    }),
    ...(tls !== undefined && {
      tls: { cert: await contentOf(tls.cert), key: await contentOf(tls.key) },
    }),
    ...(auth !== undefined && { token: await tokenOf(auth) }),
    ...(auth?.roles !== undefined && { roles: auth.roles }),
  };
}

async function tokenOf(auth: FlowAuth): Promise<TokenOptions> {
  const { tokenSecretFile, tokenPublicKeyFile = "", allowNoExpiry } = auth;
  return tokenSecretFile === undefined
    ? { publicKey: await publicKeyOf(tokenPublicKeyFile), allowNoExpiry }
    : { secretKey: await contentOf(tokenSecretFile), allowNoExpiry };
}

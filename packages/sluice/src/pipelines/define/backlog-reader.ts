import { embeddedOf } from "@sluice/gateway/admin";
import type { AdministrableGateway } from "@sluice/gateway/admin";
import type { GatewayBacklog } from "./connector-options.ts";

/** Reads backlogs from the broker in this process; undefined if the gateway's messages are kept by a cluster. */
export function backlogReader(gateway: AdministrableGateway): GatewayBacklog | undefined {
  const broker = embeddedOf(gateway)?.broker;
  if (broker === undefined) return undefined;
  return async (topics, subscription) => {
    let sum = 0;
    for (const topic of topics) {
      const { subscriptions } = await broker.statsOf(topic);
      const own = subscriptions.find(({ name }) => name === subscription);
      if (own === undefined) return undefined;
      sum += own.backlogEntries;
    }
    return sum;
  };
}

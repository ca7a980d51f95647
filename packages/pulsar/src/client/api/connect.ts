import { parseServiceUrl } from "../../service-url.ts";
import { Client } from "./client.ts";
import { resolveClientOptions } from "./client-options.ts";
import type { ClientOptions } from "./client-options.ts";
import { Cluster } from "../lookup/cluster.ts";

/**
 * Connects to a cluster: `pulsar://host:port`, or `pulsar+ssl://`, with several hosts between commas
 * if need be. Resolves once one of them has answered, so that a wrong host or token shows at once.
 */
export async function connect(
  serviceUrl: string,
  options: ClientOptions = {},
  signal?: AbortSignal,
): Promise<Client> {
  const { means, connection } = resolveClientOptions(options);
  const cluster = new Cluster(means, parseServiceUrl(serviceUrl), connection);
  try {
    await cluster.service(signal);
  } catch (error) {
    cluster.close();
    throw error;
  }
  return new Client(cluster);
}

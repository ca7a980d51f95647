import { ConfigError } from "@sluice/core";
import { parseServiceUrl } from "../../service-url.ts";
import { Cluster } from "../lookup/cluster.ts";
import { requireSignal } from "../check/arguments.ts";
import { resolveClientOptions } from "./client-options.ts";
import type { ClientOptions } from "./client-options.ts";
import { Client } from "./client.ts";

/**
 * Connects to a Pulsar cluster: `pulsar://host:port` or `pulsar+ssl://host:port`, with several hosts
 * between commas if need be. Resolves after the first handshake, so that a wrong host or wrong
 * credentials fail here.
 */
export async function connect(
  serviceUrl: string,
  options: ClientOptions = {},
  signal?: AbortSignal,
): Promise<Client> {
  requireSignal("connect", signal);
  const { dependencies, connection, isTlsRequired } = resolveClientOptions(options);
  const url = parseServiceUrl(serviceUrl);
  if (isTlsRequired && !url.isTls)
    throw new ConfigError(
      "tlsAuthentication needs TLS, and the service URL begins with pulsar://; use pulsar+ssl://host:6651",
    );
  const cluster = new Cluster(dependencies, url, connection);
  try {
    await cluster.service(signal);
  } catch (error) {
    cluster.close();
    throw error;
  }
  return new Client(cluster);
}

import { bareText, DONE, json } from "../../http/answer.ts";
import { HttpError } from "../../http/http-error.ts";
import type { AdminRequest } from "../../http/request.ts";
import type { Route, RouteAccess } from "../../http/router.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import { entityOf } from "../named.ts";

/** Clusters and brokers: one of each. */
export function clusterRoutes(admin: BrokerAdmin): readonly Route[] {
  return [...clusters(admin), ...brokers(admin)];
}

function clusters(admin: BrokerAdmin): readonly Route[] {
  const { cluster, urls } = admin;
  const path = "/admin/v2/clusters/{cluster}";
  const existing = (request: AdminRequest): void => {
    if (entityOf(request, "cluster") !== cluster)
      throw new HttpError(404, "Cluster does not exist");
  };
  return [
    { method: "GET", path: "/admin/v2/clusters", handle: () => json([cluster]) },
    {
      method: "GET",
      path,
      handle: (request) => {
        existing(request);
        const { http, broker, brokerTls } = urls();
        return json({
          serviceUrl: http,
          brokerServiceUrl: broker,
          brokerServiceUrlTls: brokerTls,
          brokerClientTlsEnabled: false,
        });
      },
    },
    {
      method: "PUT",
      path,
      handle: (request) => {
        if (entityOf(request, "cluster") === cluster)
          throw new HttpError(409, "Cluster already exists");
        throw oneCluster(cluster);
      },
    },
    {
      method: "POST",
      path,
      handle: (request) => {
        existing(request);
        throw oneCluster(cluster);
      },
    },
    {
      method: "DELETE",
      path,
      handle: (request) => {
        existing(request);
        throw oneCluster(cluster);
      },
    },
  ];
}

function oneCluster(cluster: string): HttpError {
  return new HttpError(405, `this broker is one machine: its cluster is "${cluster}" and no other`);
}

function brokers(admin: BrokerAdmin): readonly Route[] {
  const { cluster, version, urls } = admin;
  const brokerId = (): string => urls().http.replace(/^http:\/\//, "");
  const configuration = (): Readonly<Record<string, string>> => ({
    clusterName: cluster,
    allowAutoTopicCreation: String(admin.settings.autoCreateTopics),
    allowAutoTopicCreationType: "non-partitioned",
    maxNumPartitionsPerPartitionedTopic: String(admin.settings.limits.partitionsMax),
  });
  return [
    get("", () => json([brokerId()])),
    get("/{cluster}", (request) => {
      if (entityOf(request, "cluster") !== cluster)
        throw new HttpError(404, "Cluster does not exist");
      return json([brokerId()]);
    }),
    get("/leaderBroker", () => json({ serviceUrl: urls().http, brokerId: brokerId() })),
    get("/health", () => bareText("ok"), "all"),
    get("/ready", () => bareText("ok"), "all"),
    get("/version", () => bareText(version), "client"),
    get("/configuration", () => json([])),
    get("/configuration/values", () => json({})),
    get("/configuration/runtime", () => json(configuration())),
    get("/internal-configuration", () =>
      json({ metadataStoreUrl: "", stateStorageServiceUrl: "" }),
    ),
    {
      method: "POST",
      path: "/admin/v2/brokers/configuration/{setting}/{value}",
      handle: (request) => {
        throw new HttpError(405, `the setting ${request.param("setting")} cannot be changed`);
      },
    },
    { method: "DELETE", path: "/admin/v2/brokers/configuration/{setting}", handle: () => DONE },
    { method: "GET", path: "/admin/v2/broker-stats/load-report", handle: () => DONE },
  ];
}

function get(tail: string, handle: Route["handle"], access: RouteAccess = "admin"): Route {
  return { method: "GET", path: `/admin/v2/brokers${tail}`, access, handle };
}

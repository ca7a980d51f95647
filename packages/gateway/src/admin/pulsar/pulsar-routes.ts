import type { Route } from "../http/router.ts";
import type { BrokerAdmin } from "./broker-admin.ts";
import { clusterRoutes } from "./cluster-routes.ts";
import { lookupRoutes } from "./lookup-routes.ts";
import { messageRoutes } from "./message-routes.ts";
import { namespaceRoutes } from "./namespace-routes.ts";
import { policyRoutes } from "./policy-routes.ts";
import { refusedRoutes } from "./refused-routes.ts";
import { schemaRoutes } from "./schema-routes.ts";
import { statsRoutes } from "./stats-routes.ts";
import { subscriptionRoutes } from "./subscription-routes.ts";
import { tenantRoutes } from "./tenant-routes.ts";
import { topicRoutes } from "./topic-routes.ts";

/** Pulsar's own admin paths. */
export function pulsarRoutes(admin: BrokerAdmin): readonly Route[] {
  return [
    ...lookupRoutes(admin),
    ...topicRoutes(admin),
    ...subscriptionRoutes(admin),
    ...messageRoutes(admin),
    ...schemaRoutes(admin),
    ...statsRoutes(admin),
    ...policyRoutes(admin),
    ...namespaceRoutes(admin),
    ...tenantRoutes(admin),
    ...clusterRoutes(admin),
    ...refusedRoutes(admin),
  ];
}

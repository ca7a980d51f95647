import type { Route } from "../http/router.ts";
import type { BrokerAdmin } from "./broker-admin.ts";
import { clusterRoutes } from "./cluster/cluster-routes.ts";
import { lookupRoutes } from "./cluster/lookup-routes.ts";
import { messageRoutes } from "./topic/message-routes.ts";
import { namespaceRoutes } from "./namespace/namespace-routes.ts";
import { permissionRoutes } from "./namespace/permission-routes.ts";
import { policyRoutes } from "./namespace/policy-routes.ts";
import { refusedRoutes } from "./refused-routes.ts";
import { resourceGroupRoutes } from "./namespace/resource-group-routes.ts";
import { schemaRoutes } from "./schema/schema-routes.ts";
import { statsRoutes } from "./topic/stats-routes.ts";
import { subscriptionRoutes } from "./topic/subscription-routes.ts";
import { tenantRoutes } from "./namespace/tenant-routes.ts";
import { topicRoutes } from "./topic/topic-routes.ts";

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
    ...permissionRoutes(admin),
    ...tenantRoutes(admin),
    ...resourceGroupRoutes(admin),
    ...clusterRoutes(admin),
    ...refusedRoutes(admin),
  ];
}

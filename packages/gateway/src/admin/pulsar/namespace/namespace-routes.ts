import { DONE, json } from "../../http/answer.ts";
import { HttpError } from "../../http/http-error.ts";
import type { AdminRequest } from "../../http/request.ts";
import type { Route } from "../../http/router.ts";
import { BACKLOG_QUOTA, MESSAGE_TTL, RETENTION } from "../../../policy/enforced-policy.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import {
  entityOf,
  existingNamespaceOf,
  hasNamespace,
  NAMESPACE_PATH,
  namespaceOf,
} from "../named.ts";
import { permissionsOfNew } from "./permission-routes.ts";
import { hasTenant, namespacesOf } from "./tenant-routes.ts";
import { subscriptionOf } from "../topic/subscription-routes.ts";

/** The whole hash range in one bundle. */
const BUNDLES = { boundaries: ["0x00000000", "0xffffffff"], numBundles: 1 };

/** Namespaces: creation, deletion, and what concerns all topics of one. */
export function namespaceRoutes(admin: BrokerAdmin): readonly Route[] {
  const { broker } = admin;
  return [
    {
      method: "GET",
      path: "/admin/v2/namespaces/{tenant}",
      handle: (request) => {
        const tenant = entityOf(request, "tenant");
        if (!hasTenant(admin, tenant)) throw new HttpError(404, "Tenant not found");
        return json(namespacesOf(admin, tenant));
      },
    },
    ...lifeRoutes(admin),
    {
      method: "GET",
      path: `${NAMESPACE_PATH}/bundles`,
      handle: (request) => {
        existingNamespaceOf(admin, request);
        return json(BUNDLES);
      },
    },
    {
      method: "PUT",
      path: `${NAMESPACE_PATH}/unload`,
      handle: async (request) => {
        for (const topic of broker.topicsOf(existingNamespaceOf(admin, request)))
          await broker.unloadTopic(topic);
        return DONE;
      },
    },
    {
      method: "POST",
      path: `${NAMESPACE_PATH}/clearBacklog`,
      handle: (request) => clearBacklog(admin, request, () => true),
    },
    {
      method: "POST",
      path: `${NAMESPACE_PATH}/clearBacklog/{subscription}`,
      handle: (request) => {
        const subscription = subscriptionOf(request);
        return clearBacklog(admin, request, (name) => name === subscription);
      },
    },
  ];
}

function lifeRoutes(admin: BrokerAdmin): readonly Route[] {
  const { broker, policies } = admin;
  return [
    {
      method: "GET",
      path: NAMESPACE_PATH,
      handle: (request) => json(policiesJson(admin, existingNamespaceOf(admin, request))),
    },
    {
      method: "PUT",
      path: NAMESPACE_PATH,
      handle: async (request) => {
        const namespace = namespaceOf(request);
        const permissions = permissionsOfNew(admin, request.json());
        if (!hasTenant(admin, entityOf(request, "tenant")))
          throw new HttpError(404, "Tenant does not exist");
        if (hasNamespace(admin, namespace)) throw new HttpError(409, "Namespace already exists");
        await policies.createNamespace(namespace);
        for (const [role, actions] of Object.entries(permissions))
          await policies.setPermission({ namespace }, role, actions);
        return DONE;
      },
    },
    {
      method: "DELETE",
      path: NAMESPACE_PATH,
      handle: async (request) => {
        const namespace = existingNamespaceOf(admin, request);
        const partitioned = [...broker.partitionedTopicsOf(namespace).keys()];
        const topics = broker.topicsOf(namespace);
        const force = request.flag("force");
        if (!force && partitioned.length + topics.length > 0)
          throw new HttpError(409, "Cannot delete non empty namespace");
        for (const topic of partitioned) await broker.deleteTopic(topic, { force });
        for (const topic of topics)
          if (broker.hasTopic(topic)) await broker.deleteTopic(topic, { force });
        await policies.removeNamespace(namespace);
        return DONE;
      },
    },
  ];
}

function policiesJson({ policies, cluster }: BrokerAdmin, namespace: string): object {
  const { policies: values, permissions } = policies.policiesAt({ namespace });
  return {
    auth_policies: {
      namespace_auth: permissions,
      destination_auth: policies.topicPermissionsOf(namespace),
      subscription_auth_roles: {},
    },
    replication_clusters: [cluster],
    bundles: BUNDLES,
    backlog_quota_map: values[BACKLOG_QUOTA] ?? {},
    message_ttl_in_seconds: values[MESSAGE_TTL],
    retention_policies: values[RETENTION],
    deleted: false,
  };
}

async function clearBacklog(
  admin: BrokerAdmin,
  request: AdminRequest,
  isMeant: (subscription: string) => boolean,
): Promise<typeof DONE> {
  const { broker } = admin;
  // A non-persistent topic has no backlog.
  for (const topic of broker.topicsOf(existingNamespaceOf(admin, request), "persistent"))
    for (const subscription of await broker.subscriptionsOf(topic))
      if (isMeant(subscription)) await broker.skip(topic, subscription, "all");
  return DONE;
}

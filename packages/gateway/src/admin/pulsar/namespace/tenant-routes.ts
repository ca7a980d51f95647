import { DONE, json } from "../../http/answer.ts";
import { HttpError } from "../../http/http-error.ts";
import { objectOf } from "../../http/request.ts";
import type { Route } from "../../http/router.ts";
import type { Tenant } from "../../../policy/tenant.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import { entityOf } from "../named.ts";

const PATH = "/admin/v2/tenants/{tenant}";

/** Tenants: kept for Pulsar's tools, with their roles as plain text. */
export function tenantRoutes(admin: BrokerAdmin): readonly Route[] {
  const { policies } = admin;
  return [
    { method: "GET", path: "/admin/v2/tenants", handle: () => json(tenantsOf(admin)) },
    {
      method: "GET",
      path: PATH,
      handle: (request) => json(existing(admin, entityOf(request, "tenant"))),
    },
    {
      method: "PUT",
      path: PATH,
      handle: async (request) => {
        const name = entityOf(request, "tenant");
        if (tenantsOf(admin).includes(name)) throw new HttpError(409, "Tenant already exist");
        await policies.saveTenant(name, tenantFrom(admin, request.json()));
        return DONE;
      },
    },
    {
      method: "POST",
      path: PATH,
      handle: async (request) => {
        const name = entityOf(request, "tenant");
        existing(admin, name);
        await policies.saveTenant(name, tenantFrom(admin, request.json()));
        return DONE;
      },
    },
    {
      method: "DELETE",
      path: PATH,
      handle: async (request) => {
        const name = entityOf(request, "tenant");
        existing(admin, name);
        if (namespacesOf(admin, name).length > 0)
          throw new HttpError(409, "The tenant still has active namespaces");
        await policies.removeTenant(name);
        return DONE;
      },
    },
  ];
}

/** Those that were created, and those of topics that clients have created. */
function tenantsOf({ policies, broker }: BrokerAdmin): readonly string[] {
  const ofTopics = broker.namespaces().map((namespace) => namespace.split("/")[0] ?? "");
  return [...new Set([...policies.tenants(), ...ofTopics])];
}

export function hasTenant(admin: BrokerAdmin, name: string): boolean {
  return tenantsOf(admin).includes(name);
}

/** "tenant/namespace" of those that were created and of those that have topics. */
export function namespacesOf({ policies, broker }: BrokerAdmin, tenant: string): readonly string[] {
  const all = new Set([...policies.namespaces(), ...broker.namespaces()]);
  return [...all].filter((namespace) => namespace.startsWith(`${tenant}/`));
}

function existing(admin: BrokerAdmin, name: string): Tenant {
  if (!hasTenant(admin, name)) throw new HttpError(404, "Tenant does not exist");
  return admin.policies.tenant(name) ?? { adminRoles: [], allowedClusters: [admin.cluster] };
}

function tenantFrom({ cluster }: BrokerAdmin, body: unknown): Tenant {
  if (body === undefined) return { adminRoles: [], allowedClusters: [cluster] };
  const { adminRoles, allowedClusters } = objectOf("the body", body);
  const clusters = namesOf("allowedClusters", allowedClusters ?? [cluster]);
  if (clusters.length === 0) throw new HttpError(412, "Clusters can not be empty");
  return { adminRoles: namesOf("adminRoles", adminRoles ?? []), allowedClusters: clusters };
}

const NAMES_MAX = 1_000;

export function namesOf(name: string, value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length > NAMES_MAX)
    throw new HttpError(400, `${name} must be a list of at most ${NAMES_MAX} names`);
  for (const item of value as unknown[])
    if (typeof item !== "string" || item.length > NAMES_MAX)
      throw new HttpError(400, `${name} must be a list of names`);
  return value as readonly string[];
}

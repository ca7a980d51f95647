import { DONE, json } from "../../http/answer.ts";
import { HttpError } from "../../http/http-error.ts";
import { objectOf } from "../../http/request.ts";
import type { AdminRequest } from "../../http/request.ts";
import type { Route } from "../../http/router.ts";
import type { GrantedActions } from "../../../policy/namespace-record.ts";
import type { PolicyPlace } from "../../../policy/policy-book.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import {
  existingNamespaceOf,
  existingTopicOf,
  NAMESPACE_PATH,
  ofBothDomains,
  topicPath,
} from "../named.ts";
import { namesOf } from "./tenant-routes.ts";

const ACTIONS: ReadonlySet<string> = new Set(["produce", "consume"]);

/** Pulsar's actions for what this broker does not have. */
const FOREIGN_ACTIONS: ReadonlySet<string> = new Set(["functions", "sources", "sinks", "packages"]);

/** What roles may do in a namespace or to a topic, beside what the broker's `roles` say. */
export function permissionRoutes(admin: BrokerAdmin): readonly Route[] {
  return [
    ...routesAt(admin, NAMESPACE_PATH, (request) => ({
      namespace: existingNamespaceOf(admin, request),
    })),
    ...ofBothDomains((domain) =>
      routesAt(admin, topicPath(domain), (request) => {
        const { namespace, full, partition } = existingTopicOf(admin, domain, request);
        return { namespace, topic: partition?.of ?? full };
      }),
    ),
  ];
}

function routesAt(
  admin: BrokerAdmin,
  path: string,
  placeOf: (request: AdminRequest) => PolicyPlace,
): readonly Route[] {
  const { policies } = admin;
  return [
    {
      method: "GET",
      path: `${path}/permissions`,
      handle: (request) => json(policies.policiesAt(placeOf(request)).permissions),
    },
    {
      method: "POST",
      path: `${path}/permissions/{role}`,
      handle: async (request) => {
        const place = placeOf(request);
        const actions = actionsOf(request.json());
        requireAuthorization(admin);
        await policies.setPermission(place, request.param("role"), actions);
        return DONE;
      },
    },
    {
      // Served without authorization too: permissions of earlier days would hold once it is on.
      method: "DELETE",
      path: `${path}/permissions/{role}`,
      handle: async (request) => {
        await policies.setPermission(placeOf(request), request.param("role"), undefined);
        return DONE;
      },
    },
  ];
}

/** Of a new namespace's policies only the permissions of roles are taken: tools send the rest empty. */
export function permissionsOfNew(admin: BrokerAdmin, body: unknown): GrantedActions {
  const { auth_policies: policies } = objectOf("the body", body ?? {});
  const { namespace_auth: permissions } = objectOf("auth_policies", policies ?? {});
  const entries = Object.entries(objectOf("namespace_auth", permissions ?? {}));
  if (entries.length > 0) requireAuthorization(admin);
  return Object.fromEntries(entries.map(([role, actions]) => [role, actionsOf(actions)]));
}

/** Pulsar's own words for a permission that would change nothing; its status is 501, a fault to ours. */
function requireAuthorization({ isAuthorizationOn }: BrokerAdmin): void {
  if (!isAuthorizationOn)
    throw new HttpError(
      405,
      "Authorization is not enabled: every client may do everything; give the broker roles (gateway.auth.roles), then permissions add to them",
    );
}

function actionsOf(value: unknown): readonly string[] {
  const actions = namesOf("the actions", value);
  const refused = actions.find((action) => !ACTIONS.has(action));
  if (refused === undefined) return actions;
  if (FOREIGN_ACTIONS.has(refused))
    throw new HttpError(405, `the action ${refused} is not supported: grant produce or consume`);
  const named = JSON.stringify(refused.slice(0, 80));
  throw new HttpError(400, `the action ${named} is unknown: grant produce or consume`);
}

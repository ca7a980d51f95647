import { groupOf, RESOURCE_GROUP } from "../../../limit-book/publish-rate.ts";
import type { ResourceGroup } from "../../../policy/limits-record.ts";
import { bareText, DONE, json, UNSET } from "../../http/answer.ts";
import { HttpError } from "../../http/http-error.ts";
import { objectOf } from "../../http/request.ts";
import type { AdminRequest } from "../../http/request.ts";
import type { Route } from "../../http/router.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import { existingNamespaceOf, NAMESPACE_PATH } from "../named.ts";
import { rateOf } from "./rate-body.ts";

const GROUPS_PATH = "/admin/v2/resourcegroups";
const NAME = /^[-=:.\w]{1,200}$/;

const FIELDS = [
  "publishRateInMsgs",
  "publishRateInBytes",
  "dispatchRateInMsgs",
  "dispatchRateInBytes",
] as const satisfies readonly (keyof ResourceGroup)[];

/** Resource groups: the namespaces that are assigned to one share its publish rate. */
export function resourceGroupRoutes(admin: BrokerAdmin): readonly Route[] {
  return [...groupRoutes(admin), ...assignmentRoutes(admin)];
}

function groupRoutes({ limitBook: { groups } }: BrokerAdmin): readonly Route[] {
  const path = `${GROUPS_PATH}/{group}`;
  return [
    { method: "GET", path: GROUPS_PATH, handle: () => json([...groups.all().keys()]) },
    { method: "GET", path, handle: (request) => json(existing(groupNameOf(request))) },
    {
      method: "PUT",
      path,
      handle: async (request) => {
        const name = groupNameOf(request);
        // Only what is given changes, as in Pulsar.
        const former = groups.all().get(name) ?? groupOf({});
        await groups.save(name, { ...former, ...fieldsOf(request.json()) });
        return DONE;
      },
    },
    {
      method: "DELETE",
      path,
      handle: async (request) => {
        const name = groupNameOf(request);
        existing(name);
        if (groups.namespacesOf(name).length > 0)
          throw new HttpError(412, "ResourceGroup is in use");
        if (groups.isOfStart(name))
          throw new HttpError(
            412,
            "ResourceGroup is in use: gateway.limits.groups of the flow file has it; remove it there",
          );
        await groups.save(name, undefined);
        return DONE;
      },
    },
  ];

  function existing(name: string): ResourceGroup {
    const group = groups.all().get(name);
    if (group === undefined) throw new HttpError(404, "ResourceGroup does not exist");
    return group;
  }
}

function assignmentRoutes(admin: BrokerAdmin): readonly Route[] {
  const { policies } = admin;
  const { groups } = admin.limitBook;
  const path = `${NAMESPACE_PATH}/resourcegroup`;
  const assign = async (request: AdminRequest, name: string | undefined): Promise<typeof DONE> => {
    const namespace = existingNamespaceOf(admin, request);
    await policies.setPolicy({ namespace }, RESOURCE_GROUP, name);
    return DONE;
  };
  return [
    {
      method: "GET",
      path,
      handle: (request) => {
        const namespace = existingNamespaceOf(admin, request);
        const name = policies.policiesAt({ namespace }).policies[RESOURCE_GROUP];
        return typeof name === "string" ? bareText(name) : UNSET;
      },
    },
    {
      method: "POST",
      path: `${path}/{group}`,
      handle: (request) => {
        const name = groupNameOf(request);
        if (!groups.all().has(name)) throw new HttpError(412, "ResourceGroup does not exist");
        return assign(request, name);
      },
    },
    { method: "DELETE", path, handle: (request) => assign(request, undefined) },
  ];
}

function groupNameOf(request: AdminRequest): string {
  const name = request.param("group");
  if (!NAME.test(name))
    throw new HttpError(412, "a group's name must be letters, digits and any of - = : . _");
  return name;
}

/** Those that are given. */
function fieldsOf(body: unknown): Partial<ResourceGroup> {
  const given = objectOf("the body", body ?? {});
  const fields: { -readonly [K in keyof ResourceGroup]?: number } = {};
  for (const field of FIELDS) {
    const value = given[field];
    if (value === undefined || value === null) continue;
    const rate = rateOf(field, value);
    if (rate > 0 && field.startsWith("dispatch"))
      throw new HttpError(
        405,
        `${field} is not supported; set dispatchRate of the namespaces, or limits.dispatch.broker`,
      );
    fields[field] = rate;
  }
  return fields;
}

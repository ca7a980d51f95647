import { DONE, json, UNSET } from "../../http/answer.ts";
import { HttpError } from "../../http/http-error.ts";
import { objectOf, shown, wholeWithin } from "../../http/request.ts";
import type { AdminRequest } from "../../http/request.ts";
import type { Route } from "../../http/router.ts";
import {
  BACKLOG_QUOTA,
  BACKLOG_QUOTA_ACTIONS,
  BACKLOG_QUOTA_TYPES,
  DEDUPLICATION,
  MESSAGE_TTL,
  RETENTION,
  retentionValueOf,
} from "../../../policy/enforced-policy.ts";
import type {
  BacklogQuotaMap,
  BacklogQuotaType,
  BacklogQuotaValue,
  RetentionValue,
} from "../../../policy/enforced-policy.ts";
import { PUBLISH_RATE } from "../../../limit-book/publish-rate.ts";
import type { PolicyPlace } from "../../../policy/policy-book.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import { dispatchRoutes } from "./dispatch-routes.ts";
import { publishRateFrom } from "./rate-body.ts";
import { policyLevels } from "./policy-level.ts";
import type { PolicyLevel } from "./policy-level.ts";
import { valueRoutes } from "./value-routes.ts";

/** Policies that mean nothing on one machine without a second tier: they are kept and answered. */
const KEPT: readonly string[] = [
  "antiAffinity",
  "offloadDeletionLagMs",
  "offloadPolicies",
  "offloadThreshold",
  "persistence",
  "replication",
];

/** Other policies that the broker does not act on, and therefore does not take. */
const NOT_SUPPORTED: readonly string[] = [
  "autoSubscriptionCreation",
  "autoTopicCreation",
  "compactionThreshold",
  "deduplicationSnapshotInterval",
  "delayedDelivery",
  "encryptionRequired",
  "inactiveTopicPolicies",
  "maxConsumers",
  "maxConsumersPerSubscription",
  "maxConsumersPerTopic",
  "maxMessageSize",
  "maxProducers",
  "maxProducersPerTopic",
  "maxSubscriptionsPerTopic",
  "maxTopicsPerNamespace",
  "maxUnackedMessagesOnConsumer",
  "maxUnackedMessagesOnSubscription",
  "maxUnackedMessagesPerConsumer",
  "maxUnackedMessagesPerSubscription",
  "replicatorDispatchRate",
  "schemaCompatibilityStrategy",
  "schemaValidationEnforced",
  "subscriptionExpirationTime",
  "subscriptionTypesEnabled",
];

const INT_MAX = 2 ** 31 - 1;
const SECOND_MS = 1_000;

/** Policies of topics and namespaces. */
export function policyRoutes(admin: BrokerAdmin): readonly Route[] {
  const ofBroker = retentionValueOf(admin.settings.retention);
  const ttlSeconds = Math.ceil(admin.settings.messageTtlMs / SECOND_MS);
  return policyLevels(admin).flatMap((level) => [
    ...valueRoutes(admin, level, {
      name: MESSAGE_TTL,
      valueOf: messageTtlOf,
      byDefault: ttlSeconds,
    }),
    ...valueRoutes(admin, level, {
      name: RETENTION,
      valueOf: retentionOf,
      byDefault: ofBroker,
    }),
    ...valueRoutes(admin, level, {
      name: DEDUPLICATION,
      pathName: level.kind === "topic" ? "deduplicationEnabled" : "deduplication",
      valueOf: deduplicationOf,
      byDefault: false,
    }),
    ...valueRoutes(admin, level, {
      name: PUBLISH_RATE,
      valueOf: publishRateFrom,
      unset: level.kind === "topic" ? DONE : UNSET,
    }),
    ...KEPT.flatMap((name) =>
      valueRoutes(admin, level, { name, valueOf: (request) => request.json() }),
    ),
    ...backlogQuotaRoutes(admin, level),
    ...dispatchRoutes(admin, level),
    ...NOT_SUPPORTED.flatMap((name) =>
      refusedRoutes(level, name, "this broker does not act on it"),
    ),
  ]);
}

/** Nothing is set and nothing can be, so that a tool learns by name what it cannot have. */
function refusedRoutes(
  { path, placeOf }: PolicyLevel,
  name: string,
  why: string,
): readonly Route[] {
  const refuse = (request: AdminRequest): never => {
    placeOf(request);
    throw new HttpError(405, `the policy ${name} is not supported yet: ${why}`);
  };
  return [
    {
      method: "GET",
      path: `${path}/${name}`,
      handle: (request) => {
        placeOf(request);
        return UNSET;
      },
    },
    { method: "POST", path: `${path}/${name}`, handle: refuse },
    { method: "PUT", path: `${path}/${name}`, handle: refuse },
    {
      method: "DELETE",
      path: `${path}/${name}`,
      handle: (request) => {
        placeOf(request);
        return DONE;
      },
    },
  ];
}

function backlogQuotaRoutes({ policies }: BrokerAdmin, level: PolicyLevel): readonly Route[] {
  const { path, placeOf } = level;
  const quotasAt = (place: PolicyPlace): BacklogQuotaMap =>
    policies.policiesAt(place).policies[BACKLOG_QUOTA] ?? {};
  return [
    {
      method: "GET",
      path: `${path}/backlogQuotaMap`,
      handle: (request) => {
        const place = placeOf(request);
        const { namespace } = place;
        const inherited = request.flag("applied") ? quotasAt({ namespace }) : {};
        return json({ ...inherited, ...quotasAt(place) });
      },
    },
    {
      method: "POST",
      path: `${path}/backlogQuota`,
      handle: async (request) => {
        const place = placeOf(request);
        const type = quotaTypeOf(request);
        const body = request.json();
        if (body === undefined) return DONE;
        const quota = quotaOf(type, body);
        const quotas = quotasAt(place);
        const other = Object.entries(quotas).find(([name]) => name !== type)?.[1];
        if (other !== undefined && other.policy !== quota.policy)
          throw new HttpError(
            412,
            `both types must have one policy; the other has ${other.policy}`,
          );
        await policies.setPolicy(place, BACKLOG_QUOTA, { ...quotas, [type]: quota });
        return DONE;
      },
    },
    {
      method: "DELETE",
      path: `${path}/backlogQuota`,
      handle: async (request) => {
        const place = placeOf(request);
        const { [quotaTypeOf(request)]: _, ...others } = quotasAt(place);
        const left = Object.keys(others).length === 0 ? undefined : others;
        await policies.setPolicy(place, BACKLOG_QUOTA, left);
        return DONE;
      },
    },
  ];
}

/** The value is in the query of a topic's path and in the body of a namespace's. */
function messageTtlOf(request: AdminRequest): unknown {
  const seconds = request.query("messageTTL") ?? request.json();
  return seconds === undefined ? undefined : wholeWithin("messageTTL", seconds, 0, INT_MAX);
}

function deduplicationOf(request: AdminRequest): boolean | undefined {
  const body = request.json();
  if (body === undefined || typeof body === "boolean") return body;
  throw new HttpError(400, `the body is ${shown(body)}; it must be true or false`);
}

function retentionOf(request: AdminRequest): RetentionValue | undefined {
  const body = request.json();
  if (body === undefined) return undefined;
  const { retentionTimeInMinutes = 0, retentionSizeInMB = 0 } = objectOf("the body", body);
  return {
    retentionTimeInMinutes: wholeWithin(
      "retentionTimeInMinutes",
      retentionTimeInMinutes,
      -1,
      INT_MAX,
    ),
    retentionSizeInMB: wholeWithin("retentionSizeInMB", retentionSizeInMB, -1, INT_MAX),
  };
}

function quotaTypeOf(request: AdminRequest): BacklogQuotaType {
  const text = request.query("backlogQuotaType") ?? "destination_storage";
  const type = BACKLOG_QUOTA_TYPES.find((known) => known === text);
  if (type !== undefined) return type;
  throw new HttpError(400, `backlogQuotaType must be ${BACKLOG_QUOTA_TYPES.join(" or ")}`);
}

/** `limit` is the old name of `limitSize`; either alone is enough. */
function quotaOf(type: BacklogQuotaType, body: unknown): BacklogQuotaValue {
  const { limit, limitSize, limitTime = -1, policy } = objectOf("the body", body);
  const action = BACKLOG_QUOTA_ACTIONS.find((known) => known === policy);
  if (action === undefined)
    throw new HttpError(
      400,
      `policy is ${shown(policy)}; it must be ${BACKLOG_QUOTA_ACTIONS.join(", ")}`,
    );
  const bytes = limitOf("limitSize", limitSize ?? limit ?? -1);
  const seconds = limitOf("limitTime", limitTime);
  if ((type === "message_age" ? seconds : bytes) < 0)
    throw new HttpError(
      412,
      `a ${type} quota needs ${type === "message_age" ? "limitTime" : "limitSize"}`,
    );
  return { limit: bytes, limitSize: bytes, limitTime: seconds, policy: action };
}

/** Pulsar's tools send 0 or -1 for no limit. */
function limitOf(name: string, value: unknown): number {
  const limit = wholeWithin(name, value, -1, Number.MAX_SAFE_INTEGER);
  return limit === 0 ? -1 : limit;
}

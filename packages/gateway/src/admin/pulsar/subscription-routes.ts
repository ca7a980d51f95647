import { DONE, json } from "../http/answer.ts";
import type { Answer } from "../http/answer.ts";
import { HttpError } from "../http/http-error.ts";
import type { AdminRequest } from "../http/request.ts";
import type { Route } from "../http/router.ts";
import { requireName } from "../../topic/topic-name.ts";
import type { SeekPoint } from "../../topic/consumer-handle.ts";
import type { BrokerAdmin } from "./broker-admin.ts";
import { seekPointOf } from "./message-id.ts";
import {
  existingTopicOf,
  ofBothDomains,
  partsOf,
  requireUnpartitioned,
  topicPath,
} from "./named.ts";
import type { Domain } from "./named.ts";

/** Most that a count of messages or seconds in a path may be: Java's int. */
const INT_MAX = 2 ** 31 - 1;
/** Milliseconds since 1970 in a path; the year 275760 is where dates end. */
const TIME_MAX_MS = 8.64e15;

/** Does something with each part of the topic: itself, or all its partitions. */
type PartWork = (topic: string, subscription: string, request: AdminRequest) => Promise<void>;

/** Subscriptions and what can be done to them. */
export function subscriptionRoutes(admin: BrokerAdmin): readonly Route[] {
  return ofBothDomains((domain) => [
    ...listAndLife(admin, domain),
    ...moves(admin, domain),
    {
      method: "POST",
      path: `${topicPath(domain)}/all_subscription/expireMessages/{seconds}`,
      handle: async (request) => {
        const name = existingTopicOf(admin, domain, request);
        const olderThanMs = request.wholeParam("seconds", 1, INT_MAX) * 1000;
        for (const part of partsOf(admin, name))
          for (const subscription of await admin.broker.subscriptionsOf(part))
            await admin.broker.expireMessages(part, subscription, olderThanMs);
        return DONE;
      },
    },
  ]);
}

function listAndLife(admin: BrokerAdmin, domain: Domain): readonly Route[] {
  const { broker } = admin;
  const path = `${topicPath(domain)}/subscription/{subscription}`;
  return [
    {
      method: "GET",
      path: `${topicPath(domain)}/subscriptions`,
      handle: async (request) => {
        const names = new Set<string>();
        for (const part of partsOf(admin, existingTopicOf(admin, domain, request)))
          for (const name of await broker.subscriptionsOf(part)) names.add(name);
        return json([...names]);
      },
    },
    {
      method: "PUT",
      path,
      handle: async (request) => {
        if (domain === "non-persistent")
          throw new HttpError(400, "a non-persistent topic has no subscriptions without consumers");
        const start = startOf(request.json());
        return eachPart(admin, domain, request, async (topic, subscription) => {
          const existing = await broker.subscriptionsOf(topic);
          if (existing.includes(subscription))
            throw new HttpError(409, "Subscription already exists for topic");
          await broker.createSubscription(topic, subscription, start);
        });
      },
    },
    {
      method: "DELETE",
      path,
      handle: (request) =>
        eachPart(admin, domain, request, (topic, subscription) =>
          broker.deleteSubscription(topic, subscription, { force: request.flag("force") }),
        ),
    },
  ];
}

function moves(admin: BrokerAdmin, domain: Domain): readonly Route[] {
  const { broker } = admin;
  const path = `${topicPath(domain)}/subscription/{subscription}`;
  const post = (tail: string, work: PartWork): Route => ({
    method: "POST",
    path: `${path}/${tail}`,
    handle: (request) => eachPart(admin, domain, request, work),
  });
  return [
    {
      method: "POST",
      path: `${path}/skip/{messages}`,
      handle: (request) => {
        const name = existingTopicOf(admin, domain, request);
        requireUnpartitioned(admin, name, "skipping messages");
        const messages = request.wholeParam("messages", 0, INT_MAX);
        return eachPart(admin, domain, request, (topic, subscription) =>
          broker.skip(topic, subscription, messages),
        );
      },
    },
    post("skip_all", (topic, subscription) => broker.skip(topic, subscription, "all")),
    post("resetcursor/{time}", (topic, subscription, request) => {
      const atMs = request.wholeParam("time", 0, TIME_MAX_MS);
      return broker.resetSubscription(topic, subscription, { kind: "time", atMs });
    }),
    post("resetcursor", (topic, subscription, request) =>
      broker.resetSubscription(topic, subscription, seekPointOf(request.json())),
    ),
    post("expireMessages/{seconds}", (topic, subscription, request) => {
      const olderThanMs = request.wholeParam("seconds", 1, INT_MAX) * 1000;
      return broker.expireMessages(topic, subscription, olderThanMs);
    }),
    post("expireMessages", () => {
      throw new HttpError(405, "expireMessages by position is not supported; use seconds");
    }),
  ];
}

async function eachPart(
  admin: BrokerAdmin,
  domain: Domain,
  request: AdminRequest,
  work: PartWork,
): Promise<Answer> {
  const name = existingTopicOf(admin, domain, request);
  const subscription = subscriptionOf(request);
  for (const part of partsOf(admin, name)) await work(part, subscription, request);
  return DONE;
}

export function subscriptionOf(request: AdminRequest): string {
  const subscription = request.twiceEncodedParam("subscription");
  requireName("NotAllowedError", "a subscription's name", subscription);
  return subscription;
}

/** Pulsar's default for a new subscription is the end of the topic. */
function startOf(body: unknown): SeekPoint {
  return body === undefined ? { kind: "latest" } : seekPointOf(body);
}

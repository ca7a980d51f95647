import { DONE, json } from "../../http/answer.ts";
import type { Answer } from "../../http/answer.ts";
import { HttpError } from "../../http/http-error.ts";
import type { AdminRequest } from "../../http/request.ts";
import type { Route } from "../../http/router.ts";
import { requireClientName } from "../../../name/topic-name.ts";
import type { SeekPoint } from "../../../topic/consumer/consumer-handle.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import { seekPointOf } from "./message-id.ts";
import {
  existingTopicOf,
  ofBothDomains,
  partsOf,
  requireUnpartitioned,
  topicPath,
} from "../named.ts";
import type { Domain } from "../named.ts";

/** Most that a count of messages or seconds in a path may be: Java's int. */
const INT_MAX = 2 ** 31 - 1;
/** Milliseconds since 1970 in a path; the year 275760 is where dates end. */
const TIME_MAX_MS = 8.64e15;

/** Does something to a subscription, in all partitions of a partitioned topic. */
type Work = (topic: string, subscription: string, request: AdminRequest) => Promise<void>;

/** Subscriptions and what can be done to them. */
export function subscriptionRoutes(admin: BrokerAdmin): readonly Route[] {
  return ofBothDomains((domain) => [
    ...listAndLife(admin, domain),
    ...moves(admin, domain),
    {
      method: "POST",
      path: `${topicPath(domain)}/all_subscription/expireMessages/{seconds}`,
      handle: async (request) => {
        const { full } = existingTopicOf(admin, domain, request);
        const olderThanMs = request.wholeParam("seconds", 1, INT_MAX) * 1000;
        for (const subscription of await admin.broker.subscriptionsOf(full))
          await admin.broker.expireMessages(full, subscription, olderThanMs);
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
        const name = existingTopicOf(admin, domain, request);
        if (name.isPersistent) return json(await broker.subscriptionsOf(name.full));
        const names = new Set<string>();
        for (const part of partsOf(admin, name))
          for (const { name: subscription } of (await broker.statsOf(part)).subscriptions)
            names.add(subscription);
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
        return onSubscription(admin, domain, request, async (topic, subscription) => {
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
        onSubscription(admin, domain, request, (topic, subscription) =>
          broker.deleteSubscription(topic, subscription, { force: request.flag("force") }),
        ),
    },
  ];
}

function moves(admin: BrokerAdmin, domain: Domain): readonly Route[] {
  const { broker } = admin;
  const path = `${topicPath(domain)}/subscription/{subscription}`;
  const post = (tail: string, work: Work): Route => ({
    method: "POST",
    path: `${path}/${tail}`,
    handle: (request) => onSubscription(admin, domain, request, work),
  });
  return [
    {
      method: "POST",
      path: `${path}/skip/{messages}`,
      handle: (request) => {
        const name = existingTopicOf(admin, domain, request);
        requireUnpartitioned(admin, name, "skipping messages");
        const messages = request.wholeParam("messages", 0, INT_MAX);
        return onSubscription(admin, domain, request, (topic, subscription) =>
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

async function onSubscription(
  admin: BrokerAdmin,
  domain: Domain,
  request: AdminRequest,
  work: Work,
): Promise<Answer> {
  const { full } = existingTopicOf(admin, domain, request);
  await work(full, subscriptionOf(request), request);
  return DONE;
}

export function subscriptionOf(request: AdminRequest): string {
  const subscription = request.twiceEncodedParam("subscription");
  requireClientName("NotAllowedError", "a subscription's name", subscription);
  return subscription;
}

/** Pulsar's default for a new subscription is the end of the topic. */
function startOf(body: unknown): SeekPoint {
  return body === undefined ? { kind: "latest" } : seekPointOf(body);
}

import { DONE, json } from "../../http/answer.ts";
import { HttpError } from "../../http/http-error.ts";
import { objectOf, wholeWithin } from "../../http/request.ts";
import type { AdminRequest } from "../../http/request.ts";
import type { Route } from "../../http/router.ts";
import type { TopicName } from "../../../name/topic-name.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import { messageIdJson } from "./message-id.ts";
import {
  existingNamespaceOf,
  existingTopicOf,
  hasNamespace,
  notFound,
  ofBothDomains,
  partsOf,
  requireUnpartitioned,
  topicOf,
  topicPath,
} from "../named.ts";
import type { Domain } from "../named.ts";

/** Topics and their partitions: lists, creation, deletion, unload, termination. */
export function topicRoutes(admin: BrokerAdmin): readonly Route[] {
  return ofBothDomains((domain) => [
    ...listRoutes(admin, domain),
    ...partitionRoutes(admin, domain),
    ...lifeRoutes(admin, domain),
  ]);
}

function listRoutes(admin: BrokerAdmin, domain: Domain): readonly Route[] {
  const path = `/admin/v2/${domain}/{tenant}/{namespace}`;
  return [
    {
      method: "GET",
      path,
      handle: (request) => json(admin.broker.topicsOf(existingNamespaceOf(admin, request), domain)),
    },
    {
      method: "GET",
      path: `${path}/partitioned`,
      handle: (request) => {
        const namespace = existingNamespaceOf(admin, request);
        const all = [...admin.broker.partitionedTopicsOf(namespace).keys()];
        return json(all.filter((topic) => topic.startsWith(`${domain}:`)));
      },
    },
  ];
}

function partitionRoutes(admin: BrokerAdmin, domain: Domain): readonly Route[] {
  const { broker } = admin;
  const path = `${topicPath(domain)}/partitions`;
  return [
    {
      method: "PUT",
      path,
      handle: async (request) => {
        const name = creatableTopicOf(admin, domain, request);
        const count = partitionCountOf(admin, request);
        if (name.partition !== undefined)
          throw new HttpError(412, `${name.full} is a partition and can have none of its own`);
        if (broker.hasTopic(name.full)) throw new HttpError(409, "This topic already exists");
        await broker.createPartitionedTopic(name.full, count);
        return DONE;
      },
    },
    {
      method: "POST",
      path,
      handle: async (request) => {
        const name = existingTopicOf(admin, domain, request);
        const count = partitionCountOf(admin, request);
        const former = broker.partitionsOf(name.full);
        if (former === 0) throw new HttpError(409, `Topic ${name.full} is not partitioned topic`);
        if (count < former)
          throw new HttpError(422, `the topic has ${former} partitions; there can only be more`);
        if (count > former) await broker.growPartitions(name.full, count);
        return DONE;
      },
    },
    {
      method: "DELETE",
      path,
      handle: async (request) => {
        const name = existingTopicOf(admin, domain, request);
        if (broker.partitionsOf(name.full) === 0)
          throw new HttpError(409, `Topic ${name.full} is not partitioned topic`);
        return deleted(admin, name, request);
      },
    },
  ];
}

function lifeRoutes(admin: BrokerAdmin, domain: Domain): readonly Route[] {
  const { broker } = admin;
  const path = topicPath(domain);
  return [
    {
      method: "PUT",
      path,
      handle: async (request) => {
        const name = creatableTopicOf(admin, domain, request);
        requirePartitionOfSomething(admin, name);
        if (broker.hasTopic(name.full)) throw new HttpError(409, "This topic already exists");
        await broker.createTopic(name.full);
        return DONE;
      },
    },
    {
      method: "DELETE",
      path,
      handle: async (request) => {
        const name = existingTopicOf(admin, domain, request);
        if (broker.partitionsOf(name.full) > 0)
          throw new HttpError(409, `${name.full} is a partitioned topic; delete its partitions`);
        return deleted(admin, name, request);
      },
    },
    {
      method: "PUT",
      path: `${path}/unload`,
      handle: async (request) => {
        await broker.unloadTopic(existingTopicOf(admin, domain, request).full);
        return DONE;
      },
    },
    {
      method: "POST",
      path: `${path}/terminate`,
      handle: async (request) => {
        const name = terminableTopicOf(admin, domain, request);
        requireUnpartitioned(admin, name, "termination");
        return json(await terminated(admin, name.full));
      },
    },
    {
      method: "POST",
      path: `${path}/terminate/partitions`,
      handle: async (request) => {
        const name = terminableTopicOf(admin, domain, request);
        if (broker.partitionsOf(name.full) === 0)
          throw new HttpError(405, `${name.full} is not a partitioned topic`);
        const ids: Record<string, object> = {};
        for (const [index, part] of partsOf(admin, name).entries())
          ids[index] = await terminated(admin, part);
        return json(ids);
      },
    },
  ];
}

function creatableTopicOf(admin: BrokerAdmin, domain: Domain, request: AdminRequest): TopicName {
  const name = topicOf(domain, request);
  if (!hasNamespace(admin, name.namespace)) throw new HttpError(404, "Namespace not found");
  return name;
}

/** A partition is created with its topic, not alone. */
function requirePartitionOfSomething(
  { broker }: BrokerAdmin,
  { full, partition }: TopicName,
): void {
  if (partition === undefined || partition.index < broker.partitionsOf(partition.of)) return;
  throw new HttpError(412, `${full} is a partition, and ${partition.of} has no such partition`);
}

/** The number alone, or the metadata of a partitioned topic, which Go's client always sends. */
function partitionCountOf({ settings }: BrokerAdmin, request: AdminRequest): number {
  const { partitionsMax } = settings.limits;
  const body = request.json();
  const count = typeof body === "object" ? objectOf("the body", body)["partitions"] : body;
  const partitions = wholeWithin("partitions", count, -(2 ** 31), 2 ** 31 - 1);
  if (partitions < 1 || partitions > partitionsMax)
    throw new HttpError(406, `the number of partitions must be from 1 to ${partitionsMax}`);
  return partitions;
}

async function deleted(
  { broker, policies }: BrokerAdmin,
  { full: topic, namespace }: TopicName,
  request: AdminRequest,
): Promise<typeof DONE> {
  await broker.deleteTopic(topic, { force: request.flag("force") });
  await policies.forgetTopic({ namespace, topic });
  return DONE;
}

function terminableTopicOf(admin: BrokerAdmin, domain: Domain, request: AdminRequest): TopicName {
  const name = topicOf(domain, request);
  if (domain === "non-persistent")
    throw new HttpError(405, "a non-persistent topic cannot be terminated");
  if (!admin.broker.hasTopic(name.full)) throw notFound(name);
  return name;
}

async function terminated({ broker }: BrokerAdmin, topic: string): Promise<object> {
  const last = await broker.terminateTopic(topic);
  return messageIdJson(last ?? { ledgerId: 0, entryId: -1 });
}

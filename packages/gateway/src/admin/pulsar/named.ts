import { parseTopicName } from "../../name/topic-name.ts";
import type { TopicName } from "../../name/topic-name.ts";
import { HttpError } from "../http/http-error.ts";
import type { AdminRequest } from "../http/request.ts";
import type { Route } from "../http/router.ts";
import type { BrokerAdmin } from "./broker-admin.ts";

export const DOMAINS = ["persistent", "non-persistent"] as const;
export type Domain = (typeof DOMAINS)[number];

/** Path of one topic in front of its own paths. */
export function topicPath(domain: Domain): string {
  return `/admin/v2/${domain}/{tenant}/{namespace}/{topic}`;
}

export const NAMESPACE_PATH = "/admin/v2/namespaces/{tenant}/{namespace}";

/** The routes of both domains. */
export function ofBothDomains(routesOf: (domain: Domain) => readonly Route[]): readonly Route[] {
  return DOMAINS.flatMap(routesOf);
}

/** Most characters of a tenant's, a namespace's or a role's name. */
const NAME_LENGTH_MAX = 1024;
const ENTITY = /^[-=:.\w]+$/;

/** The name of a tenant, a namespace or a cluster; Pulsar answers 412 to others. */
export function entityOf(request: AdminRequest, name: "tenant" | "namespace" | "cluster"): string {
  const entity = request.param(name);
  if (entity.length > NAME_LENGTH_MAX || !ENTITY.test(entity))
    throw new HttpError(412, `the ${name}'s name must be letters, digits and any of - = : . _`);
  return entity;
}

/** "tenant/namespace" of a path; whether it exists is not looked at. */
export function namespaceOf(request: AdminRequest): string {
  return `${entityOf(request, "tenant")}/${entityOf(request, "namespace")}`;
}

export function hasNamespace({ policies, broker }: BrokerAdmin, namespace: string): boolean {
  return policies.hasNamespace(namespace) || broker.namespaces().includes(namespace);
}

export function existingNamespaceOf(admin: BrokerAdmin, request: AdminRequest): string {
  const namespace = namespaceOf(request);
  if (!hasNamespace(admin, namespace)) throw new HttpError(404, "Namespace does not exist");
  return namespace;
}

export function topicOf(domain: Domain, request: AdminRequest): TopicName {
  const topic = request.topicParam("topic");
  return parseTopicName(`${domain}://${namespaceOf(request)}/${topic}`);
}

/** A topic that the caller may publish to or subscribe to. */
export function visibleTopicOf(domain: Domain, request: AdminRequest): TopicName {
  const name = topicOf(domain, request);
  if (request.caller.visible([name.full]).length === 0)
    throw new HttpError(403, `this role has no right to ${name.full}`);
  return name;
}

/** A topic that exists, partitioned or not. */
export function existingTopicOf(
  { broker }: BrokerAdmin,
  domain: Domain,
  request: AdminRequest,
): TopicName {
  const name = topicOf(domain, request);
  if (!broker.hasTopic(name.full)) throw notFound(name);
  return name;
}

export function notFound({ full }: TopicName): HttpError {
  return new HttpError(404, `Topic ${full} not found`);
}

/** The topic itself, or all its partitions. */
export function partsOf({ broker }: BrokerAdmin, { full }: TopicName): readonly string[] {
  const count = broker.partitionsOf(full);
  if (count === 0) return [full];
  return Array.from({ length: count }, (_, index) => `${full}-partition-${index}`);
}

export function requireUnpartitioned(
  { broker }: BrokerAdmin,
  { full }: TopicName,
  what: string,
): void {
  if (broker.partitionsOf(full) > 0)
    throw new HttpError(405, `${what} of a partitioned topic is not allowed; name a partition`);
}

import { ConfigError } from "@sluice/core";

type TopicDomain = "persistent" | "non-persistent";

/** A topic's name in its parts. */
export interface TopicName {
  readonly domain: TopicDomain;
  readonly tenant: string;
  /** Without the tenant. */
  readonly namespace: string;
  /** Without the suffix of a partition. */
  readonly localName: string;
  /** Which partition of the topic is meant; undefined for the whole topic. */
  readonly partition: number | undefined;
}

/** Pulsar sets no bound; names are keys of maps and come from strangers, so that one is needed. */
const NAME_MAX_LENGTH = 1024;

/** What Pulsar lets a tenant and a namespace be called; it counts letters of ASCII only. */
const ENTITY = /^[-=:.\w]+$/;

/** Pulsar takes any local name. One with these could forge lines of a log, or has no UTF-8. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

/** No leading zeros: "-partition-01" is part of a local name. */
const PARTITION = /^(?<localName>.+)-partition-(?<partition>0|[1-9]\d{0,9})$/su;

const PARTITION_MAX = 0x7fff_ffff;

const FORMS = 'write "topic", "tenant/namespace/topic" or "persistent://tenant/namespace/topic"';

/** Reads a name in any of its forms. Short ones are persistent, and of public/default. */
export function parseTopicName(text: string): TopicName {
  if (typeof text !== "string") throw new ConfigError(`a topic must have a name; ${FORMS}`);
  if (text.length > NAME_MAX_LENGTH)
    throw new ConfigError(`a topic name has at most ${NAME_MAX_LENGTH} characters`);
  if (UNPRINTABLE.test(text))
    throw new ConfigError("a topic name has no control characters and is proper Unicode");
  const { domain, parts } = splitDomain(text);
  const [tenant, namespace, localName, ...more] = parts;
  if (more.length === 1)
    throw new ConfigError(`topic "${text}" has a cluster, as in Pulsar 1; ${FORMS}`);
  if (tenant === undefined || namespace === undefined || localName === undefined || more.length > 0)
    throw new ConfigError(`topic "${text}" has ${parts.length} parts; ${FORMS}`);
  requireEntity("tenant", tenant);
  requireEntity("namespace", namespace);
  if (localName.trim() === "") throw new ConfigError(`topic "${text}" has no local name; ${FORMS}`);
  return { domain, tenant, namespace, ...splitPartition(localName) };
}

/** The full form, by which a topic goes over the wire. */
export function formatTopicName(name: TopicName): string {
  const { domain, tenant, namespace, localName, partition } = name;
  const suffix = partition === undefined ? "" : `-partition-${partition}`;
  return `${domain}://${tenant}/${namespace}/${localName}${suffix}`;
}

/** The full form of a name in any form. */
export function fullTopicName(text: string): string {
  return formatTopicName(parseTopicName(text));
}

/** The full name of one partition of a topic. */
export function partitionTopicName(topic: string, partition: number): string {
  const name = parseTopicName(topic);
  if (name.partition !== undefined)
    throw new ConfigError(`topic "${topic}" is a partition and has none of its own`);
  if (!Number.isInteger(partition) || partition < 0 || partition > PARTITION_MAX)
    throw new ConfigError(`partition is ${partition}; it must be a whole number from 0`);
  return formatTopicName({ ...name, partition });
}

/** Reads "tenant/namespace". */
export function parseNamespace(text: string): { tenant: string; namespace: string } {
  const [tenant, namespace, ...more] = text.split("/");
  if (tenant === undefined || namespace === undefined || more.length > 0)
    throw new ConfigError('a namespace is written "tenant/namespace"');
  requireEntity("tenant", tenant);
  requireEntity("namespace", namespace);
  return { tenant, namespace };
}

function splitDomain(text: string): { domain: TopicDomain; parts: readonly string[] } {
  const domainEnd = text.indexOf("://");
  if (domainEnd < 0) {
    const parts = text.split("/");
    return {
      domain: "persistent",
      parts: parts.length === 1 ? ["public", "default", text] : parts,
    };
  }
  const domain = text.slice(0, domainEnd);
  if (domain !== "persistent" && domain !== "non-persistent")
    throw new ConfigError(`topic "${text}" is neither persistent:// nor non-persistent://`);
  return { domain, parts: text.slice(domainEnd + 3).split("/") };
}

function splitPartition(local: string): Pick<TopicName, "localName" | "partition"> {
  const found = PARTITION.exec(local)?.groups;
  const partition = Number(found?.["partition"]);
  const localName = found?.["localName"];
  // Beyond 31 bits it is no partition to Pulsar, and so part of a name.
  if (localName === undefined || partition > PARTITION_MAX)
    return { localName: local, partition: undefined };
  return { localName, partition };
}

function requireEntity(what: string, name: string): void {
  if (name.length <= NAME_MAX_LENGTH && ENTITY.test(name)) return;
  const shown = JSON.stringify(name.slice(0, 80));
  throw new ConfigError(`${what} is ${shown}; it must be letters, digits and any of - = : . _`);
}

import { ConfigError } from "@sluice/core";

type TopicDomain = "persistent" | "non-persistent";

/** A topic name, parsed. */
export interface TopicName {
  readonly domain: TopicDomain;
  readonly tenant: string;
  /** Without the tenant. */
  readonly namespace: string;
  /** Without the `-partition-N` suffix. */
  readonly localName: string;
  /** Undefined for a topic without partitions, and for a partitioned topic as a whole. */
  readonly partition: number | undefined;
}

/** Longest name, in characters. Pulsar has no bound; names come from clients and are kept as map keys. */
const NAME_MAX_LENGTH = 1024;

/** Pulsar's rule for tenants and namespaces. */
const ENTITY = /^[-=:.\w]+$/;

/** Characters that could forge lines of a log, or have no UTF-8. Pulsar accepts them in local names. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

/** Without leading zeros: "-partition-01" belongs to the local name. */
const PARTITION = /^(?<localName>.+)-partition-(?<partition>0|[1-9]\d{0,9})$/su;

const PARTITION_MAX = 0x7fff_ffff;

const FORMS = 'write "topic", "tenant/namespace/topic" or "persistent://tenant/namespace/topic"';

/** Parses a name in any of its forms. Short names are persistent, in public/default. */
export function parseTopicName(text: string): TopicName {
  if (typeof text !== "string") throw new ConfigError(`topic is ${typeof text}; ${FORMS}`);
  if (text === "") throw new ConfigError(`topic is empty; ${FORMS}`);
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

/** The full form, as the wire has it. */
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
    throw new ConfigError(
      `topic "${topic}" is a partition itself; use the name of the partitioned topic`,
    );
  if (!Number.isInteger(partition) || partition < 0 || partition > PARTITION_MAX)
    throw new ConfigError(
      `partition is ${partition}; use a whole number from 0 to ${PARTITION_MAX}`,
    );
  return formatTopicName({ ...name, partition });
}

/** Parses "tenant/namespace". */
export function parseNamespace(text: string): { tenant: string; namespace: string } {
  const [tenant, namespace, ...more] = typeof text === "string" ? text.split("/") : [];
  if (tenant === undefined || namespace === undefined || more.length > 0)
    throw new ConfigError(
      'namespace is not valid; write "tenant/namespace", e.g. "public/default"',
    );
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
  // Above 31 bits Pulsar takes the number as part of the local name.
  if (localName === undefined || partition > PARTITION_MAX)
    return { localName: local, partition: undefined };
  return { localName, partition };
}

function requireEntity(what: string, name: string): void {
  if (name.length <= NAME_MAX_LENGTH && ENTITY.test(name)) return;
  const shown = JSON.stringify(name.slice(0, 80));
  throw new ConfigError(`${what} is ${shown}; it must be letters, digits and any of - = : . _`);
}

import type { Clock } from "@sluice/core";
import { systemWallClock } from "@sluice/core/system";
import { DOCUMENT_BYTES_MAX } from "../storage/document/document-store.ts";
import type { DocumentStore } from "../storage/document/document-store.ts";
import { StorageError } from "../storage/storage-error.ts";
import { Turns } from "../storage/turns.ts";
import type { TopicName } from "../name/topic-name.ts";
import { RefusalError } from "../refusal/refusal-error.ts";
import { enforcedPolicy } from "./enforced-policy.ts";
import {
  isGrantedBy,
  NEW_NAMESPACE,
  setOf,
  withPermission,
  withPolicy,
  withSet,
} from "./namespace-record.ts";
import type {
  GrantedActions,
  NamespaceRecord,
  PolicySet,
  PolicyValue,
} from "./namespace-record.ts";
import { NO_LIMITS } from "./limits-record.ts";
import type { LimitsRecord } from "./limits-record.ts";
import type { Tenant } from "./tenant.ts";
import type { TopicPolicies, TopicPolicy } from "./topic-policy.ts";

/** A namespace, or one topic in it by its full name. */
export interface PolicyPlace {
  readonly namespace: string;
  readonly topic?: string;
}

/** What a change would leave; throws if that cannot be applied. Nothing is stored then. */
type ChangeCheck = (
  next:
    | { readonly namespace: string; readonly record: NamespaceRecord }
    | { readonly limits: LimitsRecord },
) => void;

/** Hears which namespace has changed, or that the limits have. */
type ChangeListener = (what: { readonly namespace: string } | "limits") => void;

const DEFAULT_TENANT = "public";
const DEFAULT_NAMESPACE = "public/default";

/** Documents of the book; the store has others beside them. */
const TENANTS_DOCUMENT = "policy-tenants";
const LIMITS_DOCUMENT = "policy-limits";
const NAMESPACE_PREFIX = "policy-namespace ";

/** Each is a document, and all of them are in memory. */
const NAMESPACES_MAX = 10_000;
const TENANTS_MAX = 10_000;

/**
 * Tenants, namespaces and the policies of namespaces and topics. A change is durable before it holds,
 * and one change follows the other.
 */
export class PolicyBook implements TopicPolicies {
  readonly #documents: DocumentStore;
  readonly #turns = new Turns();
  readonly #tenants: Map<string, Tenant>;
  readonly #namespaces: Map<string, NamespaceRecord>;
  #limits: LimitsRecord;
  readonly #listeners = new Set<ChangeListener>();
  readonly #checks = new Set<ChangeCheck>();
  #grantsVersion = 0;
  readonly #wallClock: Clock;

  private constructor(
    documents: DocumentStore,
    wallClock: Clock,
    tenants: Map<string, Tenant>,
    namespaces: Map<string, NamespaceRecord>,
    limits: LimitsRecord,
  ) {
    this.#documents = documents;
    this.#wallClock = wallClock;
    this.#tenants = tenants;
    this.#namespaces = namespaces;
    this.#limits = limits;
  }

  /**
   * Reads what is stored. Rejects with a `StorageError` of kind `damaged` if a document of the book is
   * damaged: a broker without its quotas would keep or drop what it must not.
   */
  static async open(
    documents: DocumentStore,
    cluster: string,
    wallClock: Clock = systemWallClock,
  ): Promise<PolicyBook> {
    const { documents: stored, damaged } = await documents.load();
    for (const [name, error] of damaged) if (isOfBook(name)) throw damagedBook(error);
    const everywhere = { adminRoles: [], allowedClusters: [cluster] };
    const tenants = new Map<string, Tenant>([[DEFAULT_TENANT, everywhere]]);
    const namespaces = new Map([[DEFAULT_NAMESPACE, NEW_NAMESPACE]]);
    let limits = NO_LIMITS;
    for (const [name, bytes] of stored) {
      if (name === TENANTS_DOCUMENT) {
        tenants.clear();
        const named = decode(name, bytes) as Readonly<Record<string, Tenant>>;
        for (const [tenant, value] of Object.entries(named)) tenants.set(tenant, value);
      } else if (name === LIMITS_DOCUMENT) limits = decode(name, bytes) as LimitsRecord;
      else if (name.startsWith(NAMESPACE_PREFIX))
        namespaces.set(name.slice(NAMESPACE_PREFIX.length), decode(name, bytes) as NamespaceRecord);
    }
    return new PolicyBook(documents, wallClock, tenants, namespaces, limits);
  }

  of({ full, namespace, partition }: TopicName): TopicPolicy {
    const record = this.#namespaces.get(namespace) ?? NEW_NAMESPACE;
    const { policies } = setOf(record, partition?.of ?? full);
    return enforcedPolicy(policies, record.policies);
  }

  /** Counts the changes after which `isGranted` may answer otherwise. */
  get grantsVersion(): number {
    return this.#grantsVersion;
  }

  /**
   * As in Pulsar, a role has what it was granted on the topic, on its namespace, and everything in a
   * tenant whose admin role it is. Partitions have the permissions of their topic.
   */
  isGranted(
    role: string,
    action: "produce" | "consume" | "lookup",
    { full, namespace, partition }: TopicName,
  ): boolean {
    const [tenant = ""] = namespace.split("/");
    if (this.#tenants.get(tenant)?.adminRoles.includes(role) === true) return true;
    const record = this.#namespaces.get(namespace);
    if (record === undefined) return false;
    return (
      isGrantedBy(record, role, action) ||
      isGrantedBy(setOf(record, partition?.of ?? full), role, action)
    );
  }

  tenants(): readonly string[] {
    return [...this.#tenants.keys()];
  }

  tenant(name: string): Tenant | undefined {
    return this.#tenants.get(name);
  }

  /** Creates a tenant or replaces what is kept of it. */
  saveTenant(name: string, tenant: Tenant): Promise<void> {
    return this.#changeTenants((tenants) => {
      requireRoom("tenants", tenants.has(name) ? 0 : tenants.size, TENANTS_MAX);
      tenants.set(name, tenant);
    });
  }

  removeTenant(name: string): Promise<void> {
    return this.#changeTenants((tenants) => tenants.delete(name));
  }

  /** All "tenant/namespace" that were created; others exist through their topics alone. */
  namespaces(): readonly string[] {
    return [...this.#namespaces.keys()];
  }

  hasNamespace(namespace: string): boolean {
    return this.#namespaces.has(namespace);
  }

  createNamespace(namespace: string): Promise<void> {
    return this.#change(namespace, (record) => record);
  }

  /** Removes the namespace with all its policies, those of its topics too. */
  removeNamespace(namespace: string): Promise<void> {
    return this.#turns.run(async () => {
      await this.#documents.remove(NAMESPACE_PREFIX + namespace);
      this.#namespaces.delete(namespace);
      this.#grantsVersion += 1;
      this.#tell({ namespace });
    });
  }

  /** What is kept of a namespace: its own policies and those of its topics. */
  recordOf(namespace: string): NamespaceRecord {
    return this.#namespaces.get(namespace) ?? NEW_NAMESPACE;
  }

  /** Limits that belong to no topic and no namespace. */
  get limits(): LimitsRecord {
    return this.#limits;
  }

  /** `change` gets the wall time too, for `withSetAt`. */
  changeLimits(change: (limits: LimitsRecord, atMs: number) => LimitsRecord): Promise<void> {
    return this.#turns.run(async () => {
      const limits = change(this.#limits, this.#wallClock.now());
      for (const check of this.#checks) check({ limits });
      await this.#documents.save(LIMITS_DOCUMENT, encode(limits));
      this.#limits = limits;
      this.#tell("limits");
    });
  }

  /** Calls the check before each change of a namespace or the limits is stored. */
  addCheck(check: ChangeCheck): void {
    this.#checks.add(check);
  }

  /** Calls the listener after each change; answers how to stop that. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  policiesAt({ namespace, topic }: PolicyPlace): PolicySet {
    return setOf(this.#namespaces.get(namespace) ?? NEW_NAMESPACE, topic);
  }

  /** By the full names of the topics that have permissions of their own. */
  topicPermissionsOf(namespace: string): Readonly<Record<string, GrantedActions>> {
    const { topics } = this.#namespaces.get(namespace) ?? NEW_NAMESPACE;
    const granted = Object.entries(topics).map(([topic, set]) => [topic, set.permissions] as const);
    return Object.fromEntries(granted.filter(([, actions]) => Object.keys(actions).length > 0));
  }

  /** Undefined removes the policy. The namespace is created if it existed through its topics alone. */
  setPolicy(place: PolicyPlace, name: string, value: PolicyValue): Promise<void> {
    return this.#changeSet(place, (set) => withPolicy(set, name, value, this.#wallClock.now()));
  }

  /** A policy made from the former one, so that changes at the same time are all kept. */
  changePolicy(
    place: PolicyPlace,
    name: string,
    change: (former: PolicyValue) => PolicyValue,
  ): Promise<void> {
    return this.#changeSet(place, (set) =>
      withPolicy(set, name, change(set.policies[name]), this.#wallClock.now()),
    );
  }

  setPermission(
    place: PolicyPlace,
    role: string,
    actions: readonly string[] | undefined,
  ): Promise<void> {
    return this.#changeSet(place, (set) => withPermission(set, role, actions));
  }

  /** A topic that was deleted leaves no policy behind for the next one of its name. */
  async forgetTopic(place: Required<PolicyPlace>): Promise<void> {
    const record = this.#namespaces.get(place.namespace);
    if (record === undefined || !Object.hasOwn(record.topics, place.topic)) return;
    await this.#changeSet(place, () => ({ policies: {}, permissions: {} }));
  }

  #changeSet(
    { namespace, topic }: PolicyPlace,
    change: (set: PolicySet) => PolicySet,
  ): Promise<void> {
    return this.#change(namespace, (record) =>
      withSet(record, topic, change(setOf(record, topic))),
    );
  }

  #change(namespace: string, change: (record: NamespaceRecord) => NamespaceRecord): Promise<void> {
    return this.#turns.run(async () => {
      const former = this.#namespaces.get(namespace);
      requireRoom("namespaces", former === undefined ? this.#namespaces.size : 0, NAMESPACES_MAX);
      const record = change(former ?? NEW_NAMESPACE);
      for (const check of this.#checks) check({ namespace, record });
      await this.#documents.save(NAMESPACE_PREFIX + namespace, encode(record));
      this.#namespaces.set(namespace, record);
      this.#grantsVersion += 1;
      this.#tell({ namespace });
    });
  }

  #tell(what: Parameters<ChangeListener>[0]): void {
    for (const listener of this.#listeners) listener(what);
  }

  #changeTenants(change: (tenants: Map<string, Tenant>) => void): Promise<void> {
    return this.#turns.run(async () => {
      const tenants = new Map(this.#tenants);
      change(tenants);
      await this.#documents.save(TENANTS_DOCUMENT, encode(Object.fromEntries(tenants)));
      this.#tenants.clear();
      for (const [name, tenant] of tenants) this.#tenants.set(name, tenant);
      this.#grantsVersion += 1;
    });
  }
}

function damagedBook({ message, spot }: StorageError): StorageError {
  const what = `${message}; limits and policies that were set while the gateway ran are in it`;
  const wayOut = "restore it from a backup, or move it away to start with those of the flow file";
  return new StorageError("damaged", `${what}: ${wayOut}`, { spot });
}

function isOfBook(document: string): boolean {
  if (document === TENANTS_DOCUMENT || document === LIMITS_DOCUMENT) return true;
  return document.startsWith(NAMESPACE_PREFIX);
}

function requireRoom(what: string, count: number, max: number): void {
  if (count >= max) throw new RefusalError("NotAllowedError", `there are ${max} ${what} already`);
}

function encode(value: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(value));
  if (bytes.length > DOCUMENT_BYTES_MAX)
    throw new RefusalError("NotAllowedError", "there is no room for more policies");
  return bytes;
}

function decode(name: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8")) as unknown;
  } catch (cause) {
    throw new StorageError("damaged", `the document "${name}" is not JSON`, { cause });
  }
}

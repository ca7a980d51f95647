import { DOCUMENT_BYTES_MAX } from "../storage/document/document-store.ts";
import type { DocumentStore } from "../storage/document/document-store.ts";
import { StorageError } from "../storage/storage-error.ts";
import { Turns } from "../storage/turns.ts";
import type { TopicName } from "../name/topic-name.ts";
import { RefusalError } from "../refusal/refusal-error.ts";
import { enforcedPolicy } from "./enforced-policy.ts";
import { NEW_NAMESPACE, setOf, withPermission, withPolicy, withSet } from "./namespace-record.ts";
import type { NamespaceRecord, PolicySet, PolicyValue } from "./namespace-record.ts";
import type { Tenant } from "./tenant.ts";
import type { TopicPolicies, TopicPolicy } from "./topic-policy.ts";

/** A namespace, or one topic in it by its full name. */
export interface PolicyPlace {
  readonly namespace: string;
  readonly topic?: string;
}

const DEFAULT_TENANT = "public";
const DEFAULT_NAMESPACE = "public/default";

/** Documents of the book; the store has others beside them. */
const TENANTS_DOCUMENT = "policy-tenants";
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

  private constructor(
    documents: DocumentStore,
    tenants: Map<string, Tenant>,
    namespaces: Map<string, NamespaceRecord>,
  ) {
    this.#documents = documents;
    this.#tenants = tenants;
    this.#namespaces = namespaces;
  }

  /**
   * Reads what is stored. Rejects with a `StorageError` of kind `damaged` if a document of the book is
   * damaged: a broker without its quotas would keep or drop what it must not.
   */
  static async open(documents: DocumentStore, cluster: string): Promise<PolicyBook> {
    const { documents: stored, damaged } = await documents.load();
    for (const [name, error] of damaged) if (isOfBook(name)) throw error;
    const everywhere = { adminRoles: [], allowedClusters: [cluster] };
    const tenants = new Map<string, Tenant>([[DEFAULT_TENANT, everywhere]]);
    const namespaces = new Map([[DEFAULT_NAMESPACE, NEW_NAMESPACE]]);
    for (const [name, bytes] of stored) {
      if (name === TENANTS_DOCUMENT) {
        tenants.clear();
        const named = decode(name, bytes) as Readonly<Record<string, Tenant>>;
        for (const [tenant, value] of Object.entries(named)) tenants.set(tenant, value);
      } else if (name.startsWith(NAMESPACE_PREFIX))
        namespaces.set(name.slice(NAMESPACE_PREFIX.length), decode(name, bytes) as NamespaceRecord);
    }
    return new PolicyBook(documents, tenants, namespaces);
  }

  of({ full, namespace, partition }: TopicName): TopicPolicy {
    const record = this.#namespaces.get(namespace) ?? NEW_NAMESPACE;
    const { policies } = setOf(record, partition?.of ?? full);
    return enforcedPolicy(policies, record.policies);
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
    });
  }

  policiesAt({ namespace, topic }: PolicyPlace): PolicySet {
    return setOf(this.#namespaces.get(namespace) ?? NEW_NAMESPACE, topic);
  }

  /** Undefined removes the policy. The namespace is created if it existed through its topics alone. */
  setPolicy(place: PolicyPlace, name: string, value: PolicyValue): Promise<void> {
    return this.#changeSet(place, (set) => withPolicy(set, name, value));
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
      await this.#documents.save(NAMESPACE_PREFIX + namespace, encode(record));
      this.#namespaces.set(namespace, record);
    });
  }

  #changeTenants(change: (tenants: Map<string, Tenant>) => void): Promise<void> {
    return this.#turns.run(async () => {
      const tenants = new Map(this.#tenants);
      change(tenants);
      await this.#documents.save(TENANTS_DOCUMENT, encode(Object.fromEntries(tenants)));
      this.#tenants.clear();
      for (const [name, tenant] of tenants) this.#tenants.set(name, tenant);
    });
  }
}

function isOfBook(document: string): boolean {
  return document === TENANTS_DOCUMENT || document.startsWith(NAMESPACE_PREFIX);
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

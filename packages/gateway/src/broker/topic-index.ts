import type { TopicName } from "../name/topic-name.ts";

/** Which topics a list holds. */
export type TopicDomain = "persistent" | "non-persistent";

/** The names of one namespace and domain, in order. */
class NameList {
  readonly #names: string[] = [];
  #shared: readonly string[] | undefined;

  get size(): number {
    return this.#names.length;
  }

  /** One immutable array until the next change, so that equal questions cost nothing. */
  get all(): readonly string[] {
    this.#shared ??= Object.freeze([...this.#names]);
    return this.#shared;
  }

  add(name: string): void {
    this.#names.splice(this.#indexOf(name), 0, name);
    this.#shared = undefined;
  }

  remove(name: string): void {
    this.#names.splice(this.#indexOf(name), 1);
    this.#shared = undefined;
  }

  /** Of the first name that is not less. */
  #indexOf(name: string): number {
    let low = 0;
    let high = this.#names.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#names[middle] ?? "") < name) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

interface Namespace {
  readonly persistent: NameList;
  readonly "non-persistent": NameList;
  readonly partitioned: Map<string, number>;
  /** Both domains; made when first asked for. */
  all: readonly string[] | undefined;
}

/**
 * All topics of a broker by namespace: those that exist and the partitions that a partitioned topic
 * implies. Each name is parsed once by its caller; a list costs only its own namespace, and nothing
 * while no topic is added or removed.
 */
export class TopicIndex {
  readonly #namespaces = new Map<string, Namespace>();
  /** Topics that are stored or open. */
  readonly #existing = new Set<string>();
  /** Existing topics and implied partitions. */
  readonly #listed = new Set<string>();

  /** Topics and partitions that are listed. */
  get size(): number {
    return this.#listed.size;
  }

  get namespaces(): readonly string[] {
    return [...this.#namespaces.keys()];
  }

  /** Whether the topic is stored or open. */
  has({ full }: TopicName): boolean {
    return this.#existing.has(full);
  }

  /** Whether the topic exists, or is a partition of a partitioned topic. */
  lists({ full }: TopicName): boolean {
    return this.#listed.has(full);
  }

  add(name: TopicName): void {
    this.#existing.add(name.full);
    this.#list(name, name.full);
  }

  remove(name: TopicName): void {
    this.#existing.delete(name.full);
    const { partition } = name;
    const isImplied = partition !== undefined && partition.index < this.partitionsOf(name);
    if (!isImplied) this.#unlist(name, name.full);
  }

  /** Partitions of the topic, or of the topic that a partition belongs to; 0 without any. */
  partitionsOf({ namespace, full, partition }: TopicName): number {
    return this.#namespaces.get(namespace)?.partitioned.get(partition?.of ?? full) ?? 0;
  }

  setPartitions(name: TopicName, count: number): void {
    this.#namespaceOf(name.namespace).partitioned.set(name.full, count);
    for (let index = 0; index < count; index++) this.#list(name, partitionName(name.full, index));
  }

  removePartitions(name: TopicName): void {
    const namespace = this.#namespaces.get(name.namespace);
    const count = namespace?.partitioned.get(name.full) ?? 0;
    namespace?.partitioned.delete(name.full);
    for (let index = 0; index < count; index++) {
      const partition = partitionName(name.full, index);
      if (!this.#existing.has(partition)) this.#unlist(name, partition);
    }
    this.#forgetIfEmpty(name.namespace);
  }

  /** Full names in order, partitions one by one. The array never changes. */
  topicsOf(namespace: string, domain?: TopicDomain): readonly string[] {
    const found = this.#namespaces.get(namespace);
    if (found === undefined) return [];
    if (domain !== undefined) return found[domain].all;
    found.all ??= Object.freeze([...found["non-persistent"].all, ...found.persistent.all]);
    return found.all;
  }

  partitionedTopicsOf(namespace: string): ReadonlyMap<string, number> {
    return this.#namespaces.get(namespace)?.partitioned ?? new Map();
  }

  #list({ namespace, isPersistent }: TopicName, full: string): void {
    if (this.#listed.has(full)) return;
    this.#listed.add(full);
    const found = this.#namespaceOf(namespace);
    found[isPersistent ? "persistent" : "non-persistent"].add(full);
    found.all = undefined;
  }

  #unlist({ namespace, isPersistent }: TopicName, full: string): void {
    const found = this.#namespaces.get(namespace);
    if (found === undefined || !this.#listed.delete(full)) return;
    found[isPersistent ? "persistent" : "non-persistent"].remove(full);
    found.all = undefined;
    this.#forgetIfEmpty(namespace);
  }

  #namespaceOf(name: string): Namespace {
    const found = this.#namespaces.get(name) ?? {
      persistent: new NameList(),
      "non-persistent": new NameList(),
      partitioned: new Map(),
      all: undefined,
    };
    this.#namespaces.set(name, found);
    return found;
  }

  #forgetIfEmpty(name: string): void {
    const found = this.#namespaces.get(name);
    if (found === undefined) return;
    const size = found.persistent.size + found["non-persistent"].size + found.partitioned.size;
    if (size === 0) this.#namespaces.delete(name);
  }
}

export function partitionName(topic: string, index: number): string {
  return `${topic}-partition-${index}`;
}

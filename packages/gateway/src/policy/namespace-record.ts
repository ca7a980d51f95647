/** A policy's value as its REST path takes and answers it; undefined if it is not set. */
export type PolicyValue = unknown;

/** Policies by Pulsar's REST name, e.g. `messageTTL`. */
export type PolicyValues = Readonly<Record<string, PolicyValue>>;

/** What a role may do: `produce` and `consume`. */
export type GrantedActions = Readonly<Record<string, readonly string[]>>;

/** Policies and permissions of a namespace, or of one topic. */
export interface PolicySet {
  readonly policies: PolicyValues;
  readonly permissions: GrantedActions;
  /** When each policy was set, in wall time; absent for those of earlier versions. */
  readonly setAt?: Readonly<Record<string, number>> | undefined;
}

/** All that is kept of one namespace; one document of the broker's store. */
export interface NamespaceRecord extends PolicySet {
  /** By full name; the partitions of a topic have the policies of the topic. */
  readonly topics: Readonly<Record<string, PolicySet>>;
}

const NO_POLICIES: PolicySet = { policies: {}, permissions: {} };
export const NEW_NAMESPACE: NamespaceRecord = { ...NO_POLICIES, topics: {} };

/** A record with one part of it, of the namespace or of a topic, replaced. Empty sets are dropped. */
export function withSet(
  record: NamespaceRecord,
  topic: string | undefined,
  set: PolicySet,
): NamespaceRecord {
  if (topic === undefined) return { ...record, ...set };
  const { [topic]: _, ...others } = record.topics;
  const isEmpty = Object.keys(set.policies).length + Object.keys(set.permissions).length === 0;
  return { ...record, topics: isEmpty ? others : { ...others, [topic]: set } };
}

export function setOf(record: NamespaceRecord, topic: string | undefined): PolicySet {
  if (topic === undefined) return record;
  return Object.hasOwn(record.topics, topic) ? (record.topics[topic] ?? NO_POLICIES) : NO_POLICIES;
}

export function withPolicy(
  set: PolicySet,
  name: string,
  value: PolicyValue,
  atMs: number,
): PolicySet {
  const { [name]: _, ...others } = set.policies;
  const { [name]: __, ...times } = set.setAt ?? {};
  if (value === undefined) return { ...set, policies: others, setAt: times };
  return {
    ...set,
    policies: { ...others, [name]: value },
    setAt: { ...times, [name]: atMs },
  };
}

export function withPermission(
  set: PolicySet,
  role: string,
  actions: readonly string[] | undefined,
): PolicySet {
  const { [role]: _, ...others } = set.permissions;
  return { ...set, permissions: actions === undefined ? others : { ...others, [role]: actions } };
}

/** Whether the role was granted the action; looking a topic up needs either of the two. */
export function isGrantedBy(
  { permissions }: PolicySet,
  role: string,
  action: "produce" | "consume" | "lookup",
): boolean {
  // Roles are names of clients: one called "constructor" must find nothing.
  if (!Object.hasOwn(permissions, role)) return false;
  const actions = permissions[role] ?? [];
  return action === "lookup"
    ? actions.includes("produce") || actions.includes("consume")
    : actions.includes(action);
}

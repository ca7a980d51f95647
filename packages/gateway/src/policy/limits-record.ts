/** A Pulsar resource group as its REST path writes it: per second, -1 for no limit. */
export interface ResourceGroup {
  readonly publishRateInMsgs: number;
  readonly publishRateInBytes: number;
  readonly dispatchRateInMsgs: number;
  readonly dispatchRateInBytes: number;
}

/** A limit as it is kept; without messages and bytes it says that there is none. */
export interface StoredRate {
  readonly messages?: number | undefined;
  readonly bytes?: number | undefined;
}

/** A limit of deliveries as it is kept. */
interface StoredDispatchRate extends StoredRate {
  readonly periodMs?: number | undefined;
}

/** A limit of SUBSCRIBE as it is kept; without `subscribes` it says that there is none. */
interface StoredSubscribeRate {
  readonly subscribes?: number | undefined;
  readonly periodMs?: number | undefined;
}

/** Limits that belong to no topic and no namespace; one document of the store. */
export interface LimitsRecord {
  readonly broker?: StoredRate | undefined;
  readonly topicDefault?: StoredRate | undefined;
  /** By name. */
  readonly groups: Readonly<Record<string, ResourceGroup>>;
  /** Of deliveries, by level. */
  readonly dispatch?: Readonly<Record<string, StoredDispatchRate>> | undefined;
  /** Of SUBSCRIBE, of all topics that have no other. */
  readonly subscribeDefault?: StoredSubscribeRate | undefined;
  /** When each was set, in wall time, by a name of its own. */
  readonly setAt?: Readonly<Record<string, number>> | undefined;
}

export const NO_LIMITS: LimitsRecord = { groups: {} };

/** The limits with the time at which one of them was set; undefined if it was removed. */
export function withSetAt(
  limits: LimitsRecord,
  key: string,
  atMs: number | undefined,
): LimitsRecord {
  const { [key]: _, ...others } = limits.setAt ?? {};
  return { ...limits, setAt: atMs === undefined ? others : { ...others, [key]: atMs } };
}

import * as v from "valibot";
import { byteSize, field, flag, list, map, real, record, whole } from "../fields.ts";
import { dispatchLimits, subscribeRates } from "./dispatch.ts";
import type { DispatchBlock, SubscribeBlock } from "./dispatch.ts";
import { byNamespace, byTopic } from "./names.ts";
import type { LimitNames } from "./names.ts";
import { rateBlock, rates, withRate } from "./rate.ts";
import type { RateBlock } from "./rate.ts";
import { throttleField } from "./throttle.ts";
import type { ThrottleBlock } from "./throttle.ts";

/** A limit that several gateways can have together. */
interface SharableRate extends RateBlock {
  /** All gateways of one store share it. */
  readonly shared?: boolean | undefined;
}

interface GroupRate extends SharableRate {
  /** Patterns of topics. */
  readonly topics: readonly string[];
}

type Rates = Readonly<Record<string, RateBlock>>;

/** The `limits` block of a flow file and of a scenario: who may publish and receive how much, and how much may wait. */
export interface LimitsBlock {
  /** Of all topics together. */
  readonly broker?: SharableRate | undefined;
  /** Of the topics of each group together. */
  readonly groups: Readonly<Record<string, GroupRate>>;
  /** Of each topic of a namespace. */
  readonly namespaces?: Rates | undefined;
  readonly topics: Rates;
  /** Of each topic that has no other. */
  readonly topicDefault?: RateBlock | undefined;
  readonly connection: {
    readonly pendingMessages?: number | undefined;
    /** Bytes. */
    readonly heldBytes?: number | undefined;
  };
  /** Bytes. */
  readonly memory?: number | undefined;
  readonly maxHoldMs?: number | undefined;
  readonly dispatch?: DispatchBlock | undefined;
  readonly subscribe?: SubscribeBlock | undefined;
  /** False: no client is told to pause, all are held. */
  readonly throttle?: ThrottleBlock | false | undefined;
}

const PATTERNS_MAX = 1_000;

/** Three quarters of it are counted, which must be more than 1 MiB. */
const MEMORY_MIN_BYTES = 2_000_000;

/** Clients give a SEND up after 30 s by default; the broker checks the same. */
const MAX_HOLD_MAX_MS = 25_000;

const groupName = field<string>(
  (value) => typeof value === "string" && /^[-=:.\w]{1,200}$/.test(value),
  "a name of letters, digits and any of - = : . _",
);

const memory = v.pipe(
  byteSize(),
  v.check(
    (bytes) => bytes >= MEMORY_MIN_BYTES,
    ({ input }) => `is ${input} bytes; expected at least 2MB`,
  ),
);

/** The block, whose topics are named as `names` says. */
export function limits(names: LimitNames): v.GenericSchema<unknown, LimitsBlock> {
  return map({
    broker: v.optional(withRate(map({ ...rates, shared: v.optional(flag()) }))),
    groups: v.optional(record(groupName, groupRate(names), "groups and their limits"), {}),
    namespaces: v.optional(byNamespace(rateBlock(), "limits")),
    topics: v.optional(byTopic(names, rateBlock(), "limits"), {}),
    topicDefault: v.optional(rateBlock()),
    connection: v.optional(
      map({ pendingMessages: v.optional(whole(1, 1_000_000)), heldBytes: v.optional(byteSize()) }),
      {},
    ),
    memory: v.optional(memory),
    maxHoldMs: v.optional(real(1, MAX_HOLD_MAX_MS)),
    dispatch: v.optional(dispatchLimits(names)),
    subscribe: v.optional(subscribeRates(names)),
    throttle: v.optional(throttleField),
  });
}

function groupRate({ pattern }: LimitNames): v.GenericSchema<unknown, GroupRate> {
  return withRate(
    map({
      topics: list(pattern, PATTERNS_MAX, 'a list of patterns, such as ["public/analytics/*"]'),
      ...rates,
      shared: v.optional(flag()),
    }),
  );
}

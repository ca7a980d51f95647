import type { InboundReason } from "../refusal.ts";

interface Happening {
  /** Name of the limiter. */
  readonly limiter: string;
  readonly atMs: number;
}

/** A request may be served. */
interface RequestAdmitted extends Happening {
  readonly type: "admitted";
  readonly key: string;
  readonly cost: number;
  /** For a permit, or for the store. */
  readonly waitedMs: number;
  readonly inFlight: number;
  /** Undefined if concurrency is not limited. */
  readonly limit: number | undefined;
}

/** A request was refused; it cost its key nothing. */
interface RequestRefused extends Happening {
  readonly type: "refused";
  readonly key: string;
  readonly reason: InboundReason;
  /** Names of the policies that had not enough. */
  readonly violated: readonly string[];
  readonly retryAfterMs: number;
  readonly waitedMs: number;
}

/** The store answered a call. */
interface StoreCalled extends Happening {
  readonly type: "store-call";
  readonly durationMs: number;
  /** Tokens for requests that waited for the call. */
  readonly granted: number;
  /** Tokens to answer later requests from, without a call. */
  readonly leased: number;
}

/** The store does not answer: requests are judged by `onStoreLoss` until it does. Once per outage. */
interface StoreLost extends Happening {
  readonly type: "store-lost";
  readonly error: unknown;
}

/** The store answers again. */
interface StoreBack extends Happening {
  readonly type: "store-back";
  readonly lostMs: number;
}

export type InboundEvent = RequestAdmitted | RequestRefused | StoreCalled | StoreLost | StoreBack;

/** Gets every event in the step in which it happens: it should be quick. */
export type InboundObserver = (event: InboundEvent) => void;

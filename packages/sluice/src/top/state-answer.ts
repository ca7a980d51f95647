import type { AnsweredLimits } from "../limits/limit-table.ts";
import type { WholeWhy } from "../why/why-lines.ts";

interface TopicAnswer {
  readonly name: string;
  readonly in: { readonly messagesPerSecond: number };
  readonly subscriptions: readonly { readonly backlogEntries: number }[];
}

export interface VertexAnswer {
  readonly name: string;
  readonly kind: string;
  readonly perSecond: number;
  readonly queue: number | null;
  readonly inFlight: number;
  readonly waiting?: { readonly reason: string | null; readonly forMs: number };
  readonly gate?: { readonly limit: number | null; readonly inFlight: number };
  readonly rateLimit?: {
    readonly ceiling: number | null;
    readonly share: number | null;
    readonly members: number | null;
    readonly member?: string | null;
    readonly storeAgeMs: number | null;
  };
}

/** The answer of `/api/state`, as far as the view shows it. */
export interface StateAnswer {
  readonly gateway?: { readonly urls: readonly string[] };
  readonly topics?: readonly TopicAnswer[];
  readonly waiting?: readonly {
    readonly topic: string;
    readonly reason: string;
    readonly forMs: number;
  }[];
  readonly pipelines?: readonly {
    readonly name: string;
    readonly status: string;
    readonly vertices: readonly VertexAnswer[];
  }[];
}

/** What the administration answered at one instant. */
export interface TopSnapshot {
  readonly state: StateAnswer;
  readonly why: WholeWhy;
  readonly limits: AnsweredLimits;
  /** The answer of `/api/why` for the row that is open; `name` is what was asked for. */
  readonly detail?: { readonly name: string | undefined; readonly answer: WholeWhy } | undefined;
}

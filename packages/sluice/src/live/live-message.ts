import type { Reason } from "@sluice/core";
import type { Why, WhyPaused } from "@sluice/gateway/admin";
import type { PackedSample } from "./packed-sample.ts";
import type { WhyFailed, WhyVertex, WhyWorking } from "../pipelines/admin/vertex-why.ts";

/**
 * What `/api/live` sends to a page, as server-sent events: the name of the event is the key here, its data is the value
 * as JSON. `hello` comes first, then `changes` and `past`, then `sample` twice a second and `change` whenever
 * something changes. `topic` and `pool` come with each sample if the page has asked for one by `?topic=` or `?pool=`.
 * A page that reads too slowly gets `missed` instead of what was left out.
 */
export interface LiveMessages {
  readonly hello: LiveHello;
  /** Samples of the last five minutes, oldest first, in several messages. */
  readonly past: readonly PackedSample[];
  /** The latest changes, oldest first. */
  readonly changes: readonly LiveChange[];
  /** To be read with `unpackSample`. */
  readonly sample: PackedSample;
  /** What was left out since the last message, because the page did not read. */
  readonly missed: { readonly samples: number; readonly changes: number };
  readonly change: LiveChange;
  readonly topic: LiveTopicDetail;
  readonly pool: LivePoolDetail;
  /** Before the first `pool`: what its members held in the last 15 minutes, oldest first, in several messages. */
  readonly poolPast: readonly LivePoolPast[];
}

export interface LiveHello {
  readonly version: string;
  /** `SAMPLE_FORMAT`; a page with another one cannot read what follows. */
  readonly format: number;
  /** `name` of the flow file. */
  readonly flow: string;
  /** The flow file; absent if it came through standard input. */
  readonly file?: string | undefined;
  /** Tells this process from its replicas: the start of its member id. */
  readonly member: string;
  /** Wall time. */
  readonly startedAtMs: number;
  /** Whether the caller may change limits: no token is needed, or it gave one. */
  readonly canChange: boolean;
  /** Time between two samples, ms. */
  readonly sampleMs: number;
}

/**
 * All that Overview shows of one instant. Lists are bounded; what is left out is counted. Rates are means of the last
 * three seconds.
 */
export interface LiveSample {
  /** Wall time. */
  readonly atMs: number;
  /** Absent in a process of pipelines alone. */
  readonly gateway?: LiveGateway | undefined;
  readonly pipelines: readonly LivePipeline[];
  /** Rows of "Waiting now": lost stores first, then those that hold back most messages a second. */
  readonly waits: readonly LiveWait[];
  readonly waitsLeftOut: number;
}

/** Messages and bytes a second. */
export interface LiveRate {
  readonly messages: number;
  readonly bytes: number;
}

/** What a limiter allows; an absent part is not limited. */
export interface LiveLimit {
  readonly messages?: number | undefined;
  readonly bytes?: number | undefined;
}

export interface LiveGateway {
  /** "embedded", or the URL of the cluster. */
  readonly upstream: string;
  /** Accepted, of all topics. */
  readonly rate: LiveRate;
  /** Of the whole gateway. */
  readonly limit?: LiveLimit | undefined;
  /** If several gateways share that limit. */
  readonly share?: LiveShare | undefined;
  /** What all producers ask for; at least that if `isAskedAtLeast`. */
  readonly asked: number;
  readonly isAskedAtLeast: boolean;
  readonly reason?: Reason | undefined;
  readonly memory: { readonly used: number; readonly max: number };
  readonly connections: number;
  /** The busiest, and all that wait. */
  readonly topics: readonly LiveTopic[];
  readonly topicsLeftOut: number;
  readonly groups: readonly LiveGroup[];
  /** Those that wait first, then the busiest. */
  readonly producers: readonly LiveProducer[];
  readonly producersLeftOut: { readonly count: number; readonly rate: number };
  readonly notices: LiveNotices;
}

export interface LiveTopic {
  /** Without `persistent://`: "public/default/orders". */
  readonly name: string;
  readonly rate: LiveRate;
  readonly limit?: LiveLimit | undefined;
  readonly asked: number;
  readonly isAskedAtLeast: boolean;
  /** Producers, and those of them that wait. */
  readonly producers: number;
  readonly waiting: number;
  readonly reason?: Reason | undefined;
  /** Groups of limits that it is in. */
  readonly groups: readonly string[];
  /** Entries that its slowest subscription has not acknowledged; absent if that is not known. */
  readonly backlog?: number | undefined;
}

export interface LiveGroup {
  readonly name: string;
  readonly rate: LiveRate;
  readonly limit?: LiveLimit | undefined;
  readonly asked: number;
  readonly isAskedAtLeast: boolean;
  readonly topics: number;
  readonly reason?: Reason | undefined;
  /** If several gateways share its limit. */
  readonly share?: LiveShare | undefined;
}

export interface LiveProducer {
  readonly name: string;
  readonly topic: string;
  /** Such as "Go 0.14", as its client calls itself. */
  readonly client?: string | undefined;
  readonly isAware: boolean;
  /** What it gets, messages a second. */
  readonly rate: number;
  /**
   * What it asks for, messages a second; absent if that is not known. Of an unaware producer whose frames are held
   * it is its last free rate: it would send at least that.
   */
  readonly asked?: number | undefined;
  readonly isAskedAtLeast: boolean;
  readonly heldFrames: number;
  readonly heldBytes: number;
  /** The pause that it was told, while it lasts, and the time until its receipt. */
  readonly told?:
    | { readonly pauseMs: number; readonly receiptAfterMs?: number | undefined }
    | undefined;
  /** What it waits for; absent while it flows. */
  readonly reason?: Reason | undefined;
}

/** Throttle notices (PIP-385). */
export interface LiveNotices {
  /** Producers that a pause holds now, of those that are limited now. */
  readonly told: number;
  readonly limited: number;
  /** The longest pause told since the last sample; absent if none was. */
  readonly pauseMs?: number | undefined;
  /** Mean time until a receipt, of the latest ones. */
  readonly receiptMs?: number | undefined;
  /** Notices without a receipt in time, since the start. */
  readonly missing: number;
}

export interface LivePipeline {
  readonly name: string;
  readonly status: "starting" | "running" | "draining" | "stopped" | "failed";
  /** From the source to the sink. */
  readonly vertices: readonly LiveVertex[];
}

export interface LiveVertex {
  readonly name: string;
  readonly kind: "source" | "map" | "sink";
  readonly connector: string;
  /** What it reads or writes: a topic, a URL without secrets. */
  readonly peer?: string | undefined;
  readonly rate: number;
  /** Messages a second that a map drops. */
  readonly droppedRate: number;
  /** Messages before it; absent if its server does not say. */
  readonly queue?: number | undefined;
  /** Messages that its buffer takes; absent for a source. */
  readonly queueMax?: number | undefined;
  readonly inFlight: number;
  /** What it waits for; absent while it flows. */
  readonly reason?: Reason | undefined;
  /** The vertex whose full buffer it waits for. */
  readonly behind?: string | undefined;
  /** Its shared rate. */
  readonly share?: LiveShare | undefined;
  /** The gate of an HTTP sink. */
  readonly gate?: LiveGate | undefined;
}

/** What a member knows of the pool of one limit. */
export interface LiveShare {
  readonly pool: string;
  /** Messages a second that this member may use; absent before the first sync. */
  readonly share?: number | undefined;
  /** Of all members, and the top of its ramp. */
  readonly ceiling?: number | undefined;
  readonly max?: number | undefined;
  readonly min?: number | undefined;
  /** What the pool has used of `ceiling`, 0 to 1, as this member sees its own use. */
  readonly usage?: number | undefined;
  /** 1 without a store. */
  readonly members: number;
  /** Of the ramp: until `max` if it goes on as it does, ms; absent while it does not grow. */
  readonly rampLeftMs?: number | undefined;
  /** Absent without a store. */
  readonly syncAgeMs?: number | undefined;
  readonly syncMs?: number | undefined;
}

export interface LiveGate {
  /** The service, for people: "payments", else its host. */
  readonly service: string;
  readonly limit?: number | undefined;
  readonly limitMax?: number | undefined;
  readonly isAdaptive: boolean;
  readonly inFlight: number;
  readonly waiting: number;
  /** Requests a second, by outcome. */
  readonly sent: number;
  readonly ok: number;
  readonly busy: number;
  readonly failed: number;
  /** Of the requests since the last sample, and the shortest mean seen; absent before the first. */
  readonly rttMs?: number | undefined;
  readonly bestRttMs?: number | undefined;
  /** Requests a second that the busy throttle allows; absent while it allows all. */
  readonly allowed?: number | undefined;
  /** The rate that was cut last, what to, and how long ago. */
  readonly cut?:
    | { readonly from?: number | undefined; readonly to: number; readonly agoMs: number }
    | undefined;
  /** The rate that holds requests now, as the flow file writes it: "500/min". */
  readonly rate?:
    | { readonly name?: string | undefined; readonly limit?: string | undefined }
    | undefined;
  /** A pause that the service asked for. */
  readonly pause?:
    | { readonly leftMs: number; readonly pauseMs: number; readonly status?: number | undefined }
    | undefined;
}

/** A row of "Waiting now": one limit in force, whatever waits for it. */
export type LiveWait =
  | {
      readonly kind: "publish";
      readonly key: string;
      /** All that wait for the limit, of all topics: its `topic` is the first of them. */
      readonly why: Why;
      /** Topics of which producers wait; more than one at the limit of a group or of the gateway. Bounded. */
      readonly topics: readonly string[];
      readonly topicsLeftOut: number;
    }
  /** Connections that are not read for one reason. */
  | {
      readonly kind: "paused";
      readonly key: string;
      /** The first of them. */
      readonly whys: readonly WhyPaused[];
      readonly whysLeftOut: number;
    }
  | { readonly kind: "vertex"; readonly key: string; readonly why: WhyVertex }
  /** A map or a sink that hangs, or whose program cannot start. */
  | { readonly kind: "working"; readonly key: string; readonly why: WhyWorking }
  | { readonly kind: "failed"; readonly key: string; readonly why: WhyFailed };

/** One line of "What changed": a change of a decision, never a message. */
export interface LiveChange {
  readonly id: number;
  /** Wall time. */
  readonly atMs: number;
  /** The kind of the event, as in `/api/events`. */
  readonly kind: string;
  readonly reason?: Reason | undefined;
  /** What it is about: a topic, a vertex, a producer. Shown strong where it stands in the text. */
  readonly subject?: string | undefined;
  readonly text: string;
  /** Of a change that comes again and again: changes of one series are one line, which `foldChange` makes. */
  readonly series?: string | undefined;
  /** Of such a line: how often, and when it was the first time (wall time); absent after once. */
  readonly times?: number | undefined;
  readonly sinceMs?: number | undefined;
}

/** The topic that the page shows. */
export interface LiveTopicDetail extends LiveTopic {
  readonly atMs: number;
  /** Nothing has this name: no topic, and no limit is set for it. */
  readonly isMissing?: boolean | undefined;
  /** Since when it has been at its limit; absent while it is not. */
  readonly limitedForMs?: number | undefined;
  /** Where the limit is set: its key, and its line or when it was set. */
  readonly setting: {
    readonly path: string;
    readonly place?: string | undefined;
    readonly setAt?: string | undefined;
    /** The level whose limit holds; absent without one. A change from the page is made at the level of the topic. */
    readonly level?: "topic" | "namespace" | "default" | undefined;
    /** Whether a change outlives a restart: the gateway keeps its data in a folder. */
    readonly isKept?: boolean | undefined;
  };
  /** All producers, bounded. */
  readonly rows: readonly LiveProducerRow[];
  readonly rowsLeftOut: number;
  /** Producers in the order of the latest turns, newest last, as indexes of `rows`. */
  readonly turns: readonly number[];
  /** Evenness among those that wait, 0 to 1 (Jain's index); absent with fewer than two. */
  readonly evenness?: number | undefined;
  /** Notices since the last message; in the first message those of the last five minutes, bounded. */
  readonly notices: readonly LiveNotice[];
  /** Connections that hold frames, most bytes first, bounded. */
  readonly held: readonly {
    readonly address: string;
    readonly producers: readonly string[];
    readonly bytes: number;
    readonly max: number;
  }[];
  /** What reads the topic here: a source of a pipeline and its ceiling. */
  readonly reader?:
    | { readonly vertex: string; readonly rate: number; readonly ceiling?: number | undefined }
    | undefined;
}

export interface LiveProducerRow extends LiveProducer {
  /** Its connection, for people: "127.0.0.1:52814". */
  readonly address: string;
  /** How long its frames waited, of the latest ones; absent if none did. */
  readonly waitP50Ms?: number | undefined;
  readonly waitP99Ms?: number | undefined;
  /** Of an aware producer. */
  readonly notices: number;
  readonly receipts: number;
  readonly receiptMs?: number | undefined;
}

export interface LiveNotice {
  readonly atMs: number;
  readonly producer: string;
  readonly pauseMs: number;
  /** Absent: none in time. */
  readonly receiptAfterMs?: number | undefined;
}

/** The pool that the page shows. Of other members it is as old as their last sync. */
export interface LivePoolDetail {
  readonly atMs: number;
  readonly pool: string;
  /** What the limit is of: "orders/in", "group analytics". */
  readonly of: string;
  readonly share: LiveShare;
  /** Those that were members in the last 15 minutes, too; bounded. */
  readonly members: readonly LiveMember[];
  /** Without a store: the processes that divide the ceiling, as the settings tell. */
  readonly replicas?: number | undefined;
  /** Whether the shares that members were told add up to at most the ceiling, and what they add up to. */
  readonly sum?: number | undefined;
  readonly settings: {
    readonly leaseMs: number;
    readonly syncMs: number;
    readonly storeTimeoutMs: number;
    readonly maxMembers: number;
    readonly safeShare: number;
    readonly onStoreLoss: string;
    readonly resumeTtlMs: number;
    /** Numaflow's mode and its numbers, for people. */
    readonly mode: string;
    readonly rampPerSecond?: number | undefined;
  };
  /** How long no share grows because the store has lost memory; absent otherwise. */
  readonly learningMs?: number | undefined;
  readonly store: {
    /** "memory", or the address without secrets. */
    readonly address: string;
    readonly isAnswering: boolean;
    readonly answerMs?: number | undefined;
    readonly missedSyncs: number;
  };
}

export interface LiveMember {
  readonly id: string;
  readonly isThis: boolean;
  /** Host and process id, if the member tells them. */
  readonly where?: string | undefined;
  /** Tells two processes with one id apart. */
  readonly incarnation: string;
  /** What the store has told it, messages a second. */
  readonly share: number;
  /** The most that it may be using, as the store remembers it; more than `share` until it has released the rest. */
  readonly promised?: number | undefined;
  /** What it wants, and what it would be told if every hand-over were complete. */
  readonly wanted?: number | undefined;
  readonly fair?: number | undefined;
  /** Since it joined what the store remembers of the pool; absent if that is not known. */
  readonly upForMs?: number | undefined;
  /** What it reports to use, 0 to 1 of its share; absent if it does not say. */
  readonly used?: number | undefined;
  /** An upper bound for other members; absent without a lease. */
  readonly leaseLeftMs?: number | undefined;
  readonly syncAgeMs: number;
  /** Since it was last seen, of a member that is no longer in the store; absent of all others. */
  readonly goneForMs?: number | undefined;
  readonly state: "holds" | "joining" | "releasing" | "safe-share" | "lease-ended" | "left";
}

/** What a pool looked like at one instant: every few seconds, and when a state changed. */
export interface LivePoolPast {
  readonly atMs: number;
  readonly ceiling?: number | undefined;
  readonly max?: number | undefined;
  /** Whether the store did not answer: the other members were not seen. */
  readonly isBlind?: boolean | undefined;
  /** Whether no share grew, because the store had lost memory. */
  readonly isLearning?: boolean | undefined;
  readonly members: readonly (Pick<LiveMember, "id" | "share" | "state" | "used"> & {
    readonly isThis?: boolean | undefined;
  })[];
}

import type { LimitsBlock } from "@sluice/lab/file";
import type { FlowStore } from "./schema/flow-store.ts";
import type { FlowPipeline } from "./pipeline/flow-pipeline.ts";
import type { FlowUpstream } from "./schema/upstream.ts";

/** What one role of a token may do. */
interface FlowRole {
  readonly produce: readonly string[];
  readonly consume: readonly string[];
  readonly admin: boolean;
}

export interface FlowAuth {
  readonly tokenSecretFile?: string | undefined;
  readonly tokenPublicKeyFile?: string | undefined;
  readonly allowNoExpiry: boolean;
  readonly roles?: Readonly<Record<string, FlowRole>> | undefined;
}

/** How many clients may connect, and how fast. */
interface FlowConnections {
  readonly connectionsMax?: number | undefined;
  readonly connectionsPerAddressMax?: number | undefined;
  readonly perSecond?: number | undefined;
  readonly perAddressPerSecond?: number | undefined;
}

/** A gateway, and what is behind it. Files are absolute. */
export interface FlowGateway {
  readonly listen: readonly string[];
  readonly advertisedHost?: string | undefined;
  /** Or a cluster; then the keys of the broker have no effect and are refused. */
  readonly upstream: "embedded" | FlowUpstream;
  /** A folder, or nothing but memory. In front of a cluster it keeps limits that were set while it ran. */
  readonly data: { readonly folder: string } | "memory";
  readonly partitions: Readonly<Record<string, number>>;
  readonly retention?:
    | { readonly size?: number | undefined; readonly age?: number | undefined }
    | undefined;
  /** In milliseconds. */
  readonly messageTtl?: number | undefined;
  readonly auth?: FlowAuth | undefined;
  readonly allowAnonymous: boolean;
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly limits?: LimitsBlock | undefined;
  readonly connections?: FlowConnections | undefined;
  readonly fleet?: { readonly maxMembers?: number | undefined } | undefined;
}

interface FlowAdmin {
  readonly listen: string;
  readonly advertisedHost?: string | undefined;
  readonly tokenFile?: string | undefined;
  /** Whether the dashboard, state, limits, waits and metrics are read without a token. */
  readonly readWithoutToken: boolean;
}

/** A checked flow file. */
export interface Flow {
  readonly name: string;
  readonly store: FlowStore;
  readonly admin?: FlowAdmin | undefined;
  /** Absent: pipelines alone. */
  readonly gateway?: FlowGateway | undefined;
  readonly pipelines: Readonly<Record<string, FlowPipeline>>;
  /** The folder of the file, from which paths in it are taken. */
  readonly folder: string;
  /** Where a key of the file stands, as "flow.yaml:12"; undefined if the file does not have it. */
  readonly placeOf: (path: readonly (string | number)[]) => string | undefined;
}

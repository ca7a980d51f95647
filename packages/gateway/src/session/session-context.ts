import type { ThrottleCodec } from "@sluice/pulsar/wire";
import type { Action, Permissions } from "../auth/permissions.ts";
import type { Refusal } from "../refusal/refusal.ts";
import type { Outbox } from "./effect.ts";
import type { SessionLimits } from "./limits.ts";
import type { ReadGate } from "./connection/read-gate.ts";

/** What a session knows of its broker. */
export interface SessionFacts {
  readonly limits: SessionLimits;
  /** The names of the authentication methods that clients may use; empty if none is needed. */
  readonly authMethods: readonly string[];
  /** What each role may do; undefined lets every client do everything. */
  readonly permissions: Permissions | undefined;
  /** Where clients find the topics, which is here. Two if there are listeners with and without TLS. */
  readonly serviceUrl: string | undefined;
  readonly serviceUrlTls: string | undefined;
  /** The throttle commands; undefined if clients are not told to pause. */
  readonly throttle: ThrottleCodec | undefined;
}

/** What the parts of one session share. */
export interface SessionContext {
  readonly facts: SessionFacts;
  readonly outbox: Outbox;
  readonly gate: ReadGate;
  /** A number that names one producer or consumer of this session. */
  nextKey(): number;
  /** Why the client's role may not do this to a topic; undefined if it may. */
  denies(action: Action, topic: string): Refusal | undefined;
  /** Those of these full names that the client's role may look up. */
  visible(topics: readonly string[]): readonly string[];
}

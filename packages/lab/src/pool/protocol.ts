import type { Random } from "@sluice/core";
import type { Condition, Entitlement } from "@sluice/fleet/sim";
import type { Link } from "./network.ts";

/** How the processes of a pool divide its ceiling: what the store keeps, and what each member does. */
export interface Protocol {
  join(host: Host): ProtocolMember;
  /** The store loses everything. */
  flush(): void;
  /** The store loses the entry of one member. */
  lose(id: string): void;
  /** Remembers what the store holds. The answered function puts it back, as a failover to a replica does. */
  snapshot(): () => void;
  /** Sets the limits of the whole pool, as text. */
  setLimits(text: string): void;
}

/** One process's part in a protocol: when to talk to the store, and what the process may use. */
export interface ProtocolMember {
  /** When `onDue` must be called, by the monotonic clock of the process. */
  readonly dueAtMs: number;
  /** Whether the store does not accept this process. */
  readonly isRefused: boolean;
  /** The members that it knows of; 0 before the first reply. */
  readonly size: number;
  onDue(): void;
  leave(level: number | undefined): void;
  /** What may be used at this instant; undefined: nothing. */
  entitlementAt(nowMs: number): Entitlement | undefined;
  /** Whether what may be used was promised by the store, and the promise still holds. */
  isPromisedAt(nowMs: number): boolean;
  /** Whether it has at least 90 % of the share that it would have if every hand-over were complete. */
  hasArrivedAt(nowMs: number): boolean;
  /** Whether it has exactly the share that is right in a pool of `live` members. */
  isSettledAt(nowMs: number, live: number): boolean;
}

/** The process around a member. */
export interface Host {
  readonly id: string;
  readonly random: Random;
  readonly link: Link;
  /** Its monotonic clock. */
  readonly nowMs: number;
  /** Its wall clock, which may be set. */
  readonly wallMs: number;
  /** What the process says of itself at a sync. */
  condition(): Condition;
  /** Runs at once, or as soon as a process that is paused goes on. */
  whenRunning(run: () => void): void;
  /** The member has read a reply. */
  onReply(news: News): void;
}

/** What a reply tells a process beside its share. */
export interface News {
  /** The store's clock, and when the sync was sent that was answered. */
  readonly time?: { readonly storeMs: number; readonly sentAtMs: number } | undefined;
  /** The ramp level of the members that run. */
  readonly runningLevel?: number | undefined;
  readonly limits?: { readonly version: number; readonly text: string } | undefined;
  /** The version of the limits that the store knows. */
  readonly limitsVersion?: number | undefined;
}

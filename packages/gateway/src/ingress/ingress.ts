import type { ByteBudget } from "../memory/byte-budget.ts";
import { ConnectionIngress } from "./connection/connection-ingress.ts";
import type {
  IngressClient,
  OpenFlow,
  PendingState,
  SharedIngress,
} from "./connection/connection-ingress.ts";
import type { PauseTotal } from "./connection/pause-times.ts";
import type { Flow } from "./desk/flow.ts";
import { HeldMemory } from "./desk/held-account.ts";
import type { HeldState } from "./desk/held-account.ts";
import { LimitedTimes } from "./desk/limited-times.ts";
import type { LimitedTotal } from "./desk/limited-times.ts";
import { PublishDesk } from "./desk/publish-desk.ts";
import type { Kept } from "./desk/publish-desk.ts";
import { waitingTopics } from "./desk/waiting.ts";
import type { WaitingTopic } from "./desk/waiting.ts";
import { PublishLimits } from "./limits/publish-limits.ts";
import type { NoticeCounts } from "./notices/aware-connection.ts";
import { ThrottleNotices } from "./notices/throttle-notices.ts";
import type { ToldProducer } from "./notices/throttle-notices.ts";
import { connectionBounds } from "./settings.ts";
import type { IngressSettings } from "./settings.ts";

export interface IngressDependencies<Item> {
  readonly memory: ByteBudget;
  /** Called once for each item that is held: what is kept of it. */
  readonly keep: (item: Item) => Kept<Item>;
  /** `wakeAtMs` has become earlier. Must not call back at once. */
  readonly onWakeAt: () => void;
  /** Something begins to wait, was told to pause, or is not read. Called often; must not call back at once. */
  readonly onDecision?: () => void;
  readonly nowMs: number;
}

export interface ConnectionPauses {
  readonly address: string;
  readonly pauses: readonly PauseTotal[];
  readonly pending: PendingState;
  readonly held: HeldState;
}

/**
 * Limits of publishing for all connections of one process. Its driver must call `release` at `wakeAtMs`,
 * and again as long as it says that more is due.
 */
export class Ingress<Item> {
  readonly limits: PublishLimits;
  readonly #shared: SharedIngress<Item>;
  readonly #times = new LimitedTimes();
  readonly #connections = new Set<ConnectionIngress<Item>>();

  constructor(settings: IngressSettings, dependencies: IngressDependencies<Item>) {
    const { memory, keep, onWakeAt, onDecision = () => {}, nowMs } = dependencies;
    const bounds = connectionBounds(settings);
    this.limits = new PublishLimits(settings, nowMs);
    const notices = new ThrottleNotices(this.limits, bounds.notices);
    this.#shared = {
      bounds,
      limits: this.limits,
      heldMemory: new HeldMemory(memory),
      notices,
      onDecision,
      desk: new PublishDesk({
        limits: this.limits,
        maxHoldMs: bounds.maxHoldMs,
        keep,
        times: this.#times,
        onWakeAt: () => {
          onWakeAt();
          onDecision();
        },
        onCharged: (levels, atMs) => notices.onCharged(levels, atMs),
      }),
    };
  }

  /** When `release` is next needed; Infinity if nothing waits. */
  get wakeAtMs(): number {
    return this.#shared.desk.wakeAtMs;
  }

  /** Connections that have had a producer and have not ended. */
  get connections(): number {
    return this.#connections.size;
  }

  get noticeCounts(): Readonly<NoticeCounts> {
    return this.#shared.notices.counts;
  }

  /** What all connections hold together. */
  get held(): HeldState {
    return this.#shared.heldMemory.state;
  }

  get openConnections(): ReadonlySet<ConnectionIngress<Item>> {
    return this.#connections;
  }

  /** Producers whose items wait, in the order in which they began to wait. */
  get waitingFlows(): ReadonlySet<Flow<Item>> {
    return this.#shared.desk.waiting;
  }

  /** The producers that are open, of all connections. */
  *openFlows(): Generator<OpenFlow<Item>> {
    for (const connection of this.#connections) yield* connection.flows;
  }

  connect(client: IngressClient<Item>): ConnectionIngress<Item> {
    const connection = new ConnectionIngress(client, this.#shared, () =>
      this.#connections.delete(connection),
    );
    this.#connections.add(connection);
    return connection;
  }

  /** Publishes items whose turn has come, in at most `max` steps. Answers whether more are due now. */
  release(nowMs: number, max: number): boolean {
    const { released, isMore } = this.#shared.desk.release(nowMs, max);
    // A producer may be closed by what happened to an item before.
    for (const { flow, item } of released) if (!flow.isClosed) flow.publish(item, nowMs);
    return isMore;
  }

  /** Forgets all items that wait. Their producers stay open. */
  dropHeld(nowMs: number): void {
    const { desk } = this.#shared;
    for (const flow of desk.waiting) desk.drop(flow, nowMs);
  }

  /** The topics that are limited now, by which limiter, and through whose traffic. */
  waiting(nowMs: number): readonly WaitingTopic[] {
    return waitingTopics(this.#shared.desk.waiting, nowMs);
  }

  /** The producers that are to pause now, because their client was told so. */
  told(nowMs: number): readonly ToldProducer[] {
    return this.#shared.notices.toldAt(nowMs);
  }

  /** How often and how long each topic was limited so far. */
  limitedTotals(nowMs: number): readonly LimitedTotal[] {
    return this.#times.totals(nowMs);
  }

  /** The connections that were not read for some time because of a limit. */
  pauses(nowMs: number): readonly ConnectionPauses[] {
    return [...this.#connections]
      .map((one) => ({
        address: one.address,
        pauses: one.pauses(nowMs),
        pending: one.pendingState,
        held: one.heldState,
      }))
      .filter(({ pauses }) => pauses.length > 0);
  }
}

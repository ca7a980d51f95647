import type { TopicName } from "../../name/topic-name.ts";
import type { TopicLog } from "../../storage/log/topic-log.ts";
import type { Cursor } from "../../subscription/cursor/cursor.ts";
import { Subscription } from "../../subscription/subscription.ts";
import type { SubscriptionType } from "../../subscription/subscription.ts";
import type { TopicSurroundings } from "../topic.ts";
import { deliverAtMsOf } from "./deliver-at.ts";
import { keyHashes } from "./key-hash.ts";
import { PersistentSubscription } from "./persistent-subscription.ts";

export interface MakeSubscriptionOptions {
  readonly name: string;
  readonly type: SubscriptionType;
  readonly isDurable: boolean;
  readonly topic: TopicName;
  readonly surroundings: TopicSurroundings;
  /** The cursor of a durable subscription may have moved. */
  readonly onMoved: () => void;
  /** A durable subscription has consumed the last entry of a ledger. */
  readonly onLedgerConsumed: () => void;
  /** The log could not be read. */
  readonly onFailed: (error: unknown) => void;
}

/** One subscription of a persistent topic, with the limits of the broker. */
export function makeSubscription(
  log: TopicLog,
  cursor: Cursor,
  options: MakeSubscriptionOptions,
): PersistentSubscription {
  const { name, type, isDurable, topic, surroundings, onFailed } = options;
  const { settings, nextTurn, deliveryTurns, timer, wallClock, observe, readAhead } = surroundings;
  const { limits } = settings;
  const state = new Subscription(cursor, type, {
    bounds: { countMax: limits.readEntriesMax, bytesMax: limits.readBytesMax },
    unackedMax: limits.unackedPerSubscriptionMax,
    consumersMax: limits.consumersPerSubscriptionMax,
    keys: keyHashes,
    delays: { deliverAtMsOf, wallClock, countMax: limits.delayedPerSubscriptionMax },
    partition: topic.partition?.index,
  });
  let { ledgerId } = cursor.ackedBefore;
  const onAcked = (): void => {
    if (!isDurable) return;
    options.onMoved();
    if (cursor.ackedBefore.ledgerId === ledgerId) return;
    ledgerId = cursor.ackedBefore.ledgerId;
    options.onLedgerConsumed();
  };
  return new PersistentSubscription(log, state, {
    name,
    isDurable,
    nextTurn,
    deliveryTurns,
    timer,
    memory: readAhead,
    wallNow: () => wallClock.now(),
    onAcked,
    onFailed,
    onConsumerBlocked: (consumer) =>
      observe({
        kind: "consumer-blocked",
        topic: topic.full,
        subscription: name,
        consumer: consumer.name,
        unackedMessages: consumer.unacked,
      }),
  });
}

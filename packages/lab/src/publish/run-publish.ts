import { SeededRandom } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import { CountedByteBudget, Ingress } from "@sluice/gateway/sim";
import { EventLoop } from "../simulation/engine/event-loop.ts";
import type { Scheduled } from "../simulation/engine/event-loop.ts";
import { arrivalTimes } from "../simulation/overload/arrival-times.ts";
import type { Frame } from "./frame.ts";
import { PublishConnection } from "./publish-connection.ts";
import type { PublishPlan, PublishProducer } from "./publish-plan.ts";
import { ProducerCounts } from "./producer-counts.ts";

/** As much as a gateway counts of its 256 MiB. */
const MEMORY_BYTES = 192 * 1024 * 1024;

/** Frames that are released before others are looked at. */
const STEPS = 1_000;

export interface PublishResult {
  /** By the order of the plan. */
  readonly producers: readonly ProducerCounts[];
  readonly connections: ReadonlyMap<
    string,
    { readonly pausedMs: number; readonly heldBytesMax: number }
  >;
}

/**
 * Producers against the publish limits of a gateway: its real limits, desk and held frames in virtual time,
 * without wire and sockets. Frame n of a producer falls at random between n and n + 1 intervals.
 */
export function runPublish(plan: PublishPlan): PublishResult {
  const { producers, durationS } = plan;
  const endMs = durationS * SECOND_MS;
  const loop = new EventLoop({ timerQuantumMs: 0, endMs });
  const random = new SeededRandom(plan.seed);
  const { memory: _, ...settings } = plan.limits;
  const connections = new Map<string, PublishConnection>();
  let wake: Scheduled | undefined;
  const ingress = new Ingress<Frame>(settings, {
    memory: new CountedByteBudget(plan.limits.memory ?? MEMORY_BYTES, () => {}),
    keep: (frame) => ({ item: frame, bytes: bytesOf(frame.producer) }),
    onWakeAt: () => {
      if (wake !== undefined) loop.cancel(wake);
      wake = loop.at(ingress.wakeAtMs, release);
    },
    nowMs: 0,
  });
  const release = (): void => {
    const nowMs = loop.now();
    const isMore = ingress.release(nowMs, STEPS);
    for (const connection of connections.values()) connection.flush(nowMs);
    const atMs = isMore ? nowMs : ingress.wakeAtMs;
    wake = Number.isFinite(atMs) ? loop.at(atMs, release) : undefined;
  };

  const counts = producers.map(({ batch }) => new ProducerCounts(durationS, batch));
  const bytesOf = (index: number): number => {
    const { batch, bytes } = producers[index] as PublishProducer;
    return batch * bytes;
  };
  const onPublish = ({ producer, atMs }: Frame, nowMs: number): void =>
    counts[producer]?.onAccepted(atMs, nowMs);
  for (const [index, producer] of producers.entries()) {
    // One queue for the topic is one producer of one connection that all send through.
    const isShared = plan.turns === "arrival";
    const name = isShared ? producer.topic : producer.connection;
    let connection = connections.get(name);
    if (connection === undefined || !isShared) {
      connection ??= new PublishConnection(ingress, name, onPublish);
      connections.set(name, connection);
      connection.open(isShared ? 0 : index, producer.topic, isShared ? name : producer.id);
    }
    start(index, producer, connection, isShared ? 0 : index);
  }
  loop.run(
    endMs,
    () => {
      // Only events change anything.
    },
    () => false,
  );
  for (const each of counts) each.end(endMs);
  const figures = [...connections].map(
    ([name, each]) =>
      [name, { pausedMs: each.pausedMs(endMs), heldBytesMax: each.heldBytesMax }] as const,
  );
  return { producers: counts, connections: new Map(figures) };

  function start(
    index: number,
    { perSecond, batch }: PublishProducer,
    connection: PublishConnection,
    key: number,
  ): void {
    const frames =
      typeof perSecond === "number" ? perSecond / batch : perSecond.map((rate) => rate / batch);
    const timeOf = arrivalTimes(frames);
    let sequence = 0;
    const schedule = (): void => {
      const atMs = timeOf(sequence++ + random.next()) * SECOND_MS;
      if (atMs >= endMs) return;
      loop.at(atMs, () => {
        const nowMs = loop.now();
        counts[index]?.onOffered(nowMs);
        const frame = { producer: index, atMs: nowMs };
        connection.send({ key, frame, messages: batch, bytes: bytesOf(index) }, nowMs);
        schedule();
      });
    };
    schedule();
  }
}

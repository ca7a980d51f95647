import { systemTimer } from "@sluice/core/system";
import { startBroker, startGateway } from "@sluice/gateway";
import { connect } from "@sluice/pulsar";
import type { Client, Producer } from "@sluice/pulsar";

export interface AccuracyCase {
  readonly upstream: "embedded" | "relay";
  readonly producers: number;
  readonly batching: boolean;
  /** Whether the clients know the throttle commands. */
  readonly aware: boolean;
}

export interface Accuracy {
  /** Messages accepted a second after the first second ÷ the limit. */
  readonly ratio: number;
  /** The same of the fullest sliding second. */
  readonly maxSecondRatio: number;
  /** Jain's index of what each producer got. */
  readonly jain: number;
  /** The most that the gateway counted as held in memory, connections included. */
  readonly heldBytesMax: number;
}

const LIMIT = 2_000;
const PAYLOAD = Buffer.alloc(1024, "sluice");

/** Messages without a receipt, of all producers together: ten times what the limit lets through in 100 ms. */
const CALLERS = 2_000;

/** The bucket is full at the start: its burst is over after the first second. */
const WARM_UP_MS = 1_000;

/** Publishes to one topic as fast as the limit lets, from one process with one connection for each ten producers. */
export async function accuracy(each: AccuracyCase, seconds: number): Promise<Accuracy> {
  const limits = { topics: { "public/default/limited": { messages: LIMIT } } };
  const isRelay = each.upstream === "relay";
  const broker = await startBroker({
    listen: "pulsar://127.0.0.1:0",
    data: "memory",
    ...(!isRelay && { limits }),
  });
  const gateway = isRelay
    ? await startGateway({ listen: "pulsar://127.0.0.1:0", upstream: broker.url, limits })
    : undefined;
  const clients: Client[] = [];
  const producers: Producer[] = [];
  try {
    for (let index = 0; index < each.producers; index++) {
      if (index % 10 === 0)
        clients.push(
          await connect(gateway?.url ?? broker.url, each.aware ? {} : { throttle: false }),
        );
      producers.push(
        await (clients.at(-1) as Client).createProducer({
          topic: "limited",
          batching: each.batching,
          pendingMessagesMax: 1_000,
        }),
      );
    }
    return await publishAll(producers, seconds, () => (gateway ?? broker).stats().memoryBytes);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await gateway?.close();
    await broker.close();
  }
}

async function publishAll(
  producers: readonly Producer[],
  seconds: number,
  memoryBytes: () => number,
): Promise<Accuracy> {
  const acceptedAtMs: number[] = [];
  const accepted = producers.map(() => 0);
  const startedAtMs = systemTimer.now();
  const endsAtMs = startedAtMs + WARM_UP_MS + seconds * 1000;
  const controller = new AbortController();
  let heldBytesMax = 0;
  const watch = (async () => {
    while (systemTimer.now() < endsAtMs) {
      heldBytesMax = Math.max(heldBytesMax, memoryBytes());
      await systemTimer.sleep(10);
    }
    controller.abort();
  })();
  /** One of the callers that wait for a receipt each, so that a producer always has something to send. */
  const call = async (producer: Producer, index: number): Promise<void> => {
    while (!controller.signal.aborted) {
      await producer.send({ data: PAYLOAD }, { signal: controller.signal });
      const nowMs = systemTimer.now();
      if (nowMs < startedAtMs + WARM_UP_MS || nowMs >= endsAtMs) continue;
      acceptedAtMs.push(nowMs);
      accepted[index] = (accepted[index] ?? 0) + 1;
    }
  };
  const callers = Math.max(4, Math.ceil(CALLERS / producers.length));
  const runs = producers.flatMap((producer, index) =>
    Array.from({ length: callers }, () => call(producer, index).catch(() => {})),
  );
  await Promise.all([...runs, watch]);
  const sum = accepted.reduce((total, count) => total + count, 0);
  const squares = accepted.reduce((total, count) => total + count * count, 0);
  return {
    ratio: acceptedAtMs.length / seconds / LIMIT,
    maxSecondRatio: fullestSecond(acceptedAtMs) / LIMIT,
    jain: (sum * sum) / (accepted.length * squares),
    heldBytesMax,
  };
}

/** Most of these instants within one second. */
function fullestSecond(atMs: readonly number[]): number {
  let most = 0;
  for (let first = 0, last = 0; last < atMs.length; last++) {
    while ((atMs[last] as number) - (atMs[first] as number) >= 1_000) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

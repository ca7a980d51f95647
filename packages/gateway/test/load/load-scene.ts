import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemTimer } from "@sluice/core/system";
import { connect } from "@sluice/pulsar";
import type { Client } from "@sluice/pulsar";
import { onTestFinished } from "vitest";
import { KilledLoad } from "./killed-load.ts";
import { startBrokerProcess, startGatewayProcess } from "./processes.ts";
import type { BrokerProcess } from "./processes.ts";

/** Each topic has a producer that knows the throttle commands and one that does not. */
const TOPICS = ["public/default/single", "public/default/batched"];

/** Messages per second of a topic; the load offers several times as much, so that frames are held. */
export const LIMIT = 1_000;

/** `front`: what clients publish through, with the limits: a gateway before the broker, or the broker alone. */
type Front = "gateway" | "broker";

/** A process that can be stopped and started again on its port. */
export class Restarted {
  readonly #start: () => Promise<BrokerProcess>;
  now: BrokerProcess;

  private constructor(start: () => Promise<BrokerProcess>, now: BrokerProcess) {
    this.#start = start;
    this.now = now;
  }

  static async start(start: () => Promise<BrokerProcess>): Promise<Restarted> {
    return new Restarted(start, await start());
  }

  async kill(): Promise<void> {
    await this.now.kill();
    this.now = await this.#start();
  }

  /** Answers the exit code, and how long the process took to drain. */
  async terminate(): Promise<{ readonly code: number | null; readonly elapsedMs: number }> {
    const startedAtMs = systemTimer.now();
    const code = await this.now.terminate();
    const elapsedMs = systemTimer.now() - startedAtMs;
    this.now = await this.#start();
    return { code, elapsedMs };
  }
}

export interface LoadScene {
  readonly loads: readonly KilledLoad[];
  readonly broker: Restarted;
  /** What clients publish through. */
  readonly front: Restarted;
  /** Ends the load, and checks that all that was acknowledged is stored, once and in order. Answers how much is stored. */
  readonly verify: () => Promise<number>;
}

/** Our broker, durable, and perhaps a gateway in front of it; both on ports that they keep. */
export async function startLoadScene(front: Front): Promise<LoadScene> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-load-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const listen = `pulsar://127.0.0.1:${await freePort()}`;
  const limits = { topicDefault: { messages: LIMIT } };
  const broker = await Restarted.start(() =>
    startBrokerProcess({ listen, data: { folder }, ...(front === "broker" && { limits }) }),
  );
  const gatewayUrl = `pulsar://127.0.0.1:${await freePort()}`;
  const gateway =
    front === "gateway"
      ? await Restarted.start(() =>
          startGatewayProcess({ listen: gatewayUrl, upstream: listen, limits }),
        )
      : undefined;
  const url = gateway === undefined ? listen : gatewayUrl;
  const client = await clientOf(listen, true);
  const loads: KilledLoad[] = [];
  for (const topic of TOPICS) {
    // The subscription is there from the start, so that retention keeps what it has not seen.
    await (await client.subscribe({ topic, subscription: "all" })).close();
    for (const isAware of [true, false]) {
      const producer = await (
        await clientOf(url, isAware)
      ).createProducer({
        topic,
        batching: topic.endsWith("batched") ? { messagesMax: 10 } : false,
        sendTimeoutMs: 0,
      });
      loads.push(new KilledLoad(producer, loads.length));
    }
  }
  return {
    loads,
    broker,
    front: gateway ?? broker,
    verify: async () => {
      await Promise.all(loads.map((load) => load.stop()));
      const found = await readAll(client, loads);
      for (const load of loads) load.verify(found);
      return found.size;
    },
  };
}

/** Waits for held frames for a second at most. */
export async function heldBytesOf({ now }: Restarted): Promise<number> {
  for (let looks = 0; looks < 200; looks++) {
    const { stats } = await now.report();
    if (stats.heldBytes > 0) return stats.heldBytes;
    await systemTimer.sleep(5);
  }
  return 0;
}

/** All that is stored, by topic and id. */
async function readAll(
  client: Client,
  loads: readonly KilledLoad[],
): Promise<ReadonlyMap<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for (const topic of TOPICS) {
    const consumer = await client.subscribe({ topic, subscription: "all" });
    const wanted = loads.filter((load) => load.topic === topic).flatMap((load) => load.lastIds);
    const missing = new Set(wanted);
    while (missing.size > 0) {
      const { messageId, data } = await consumer.receive();
      const key = `${topic} ${String(messageId)}`;
      found.set(key, data);
      missing.delete(key);
    }
    await consumer.close();
  }
  return found;
}

async function clientOf(url: string, throttle: boolean): Promise<Client> {
  const client = await connect(url, { throttle });
  onTestFinished(() => client.close());
  return client;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Clients that leave while their sockets are not read. The server's time is virtual; FIN and RST are real. */
import { SeededRandom } from "@sluice/core";
import { nextTurn, systemTimer } from "@sluice/core/system";
import { VirtualTimer } from "@sluice/core/testing";
import { afterEach, expect, test } from "vitest";
import { startBroker } from "../src/index.ts";
import type { IngressSettings, ServerStats } from "../src/index.ts";
import { passUntil } from "./broker-world.ts";
import { endScene, startFront, startUpstream, until } from "./gateway-scene.ts";
import { frameBytes, RawClient } from "./raw-client.ts";
import { entryOf } from "./session-driver.ts";

/** Fewer for memory: what is read of them before they are paused must not fill it, or they would be closed. */
const CLIENTS: Record<string, number> = { "held bytes": 100, memory: 20 };

/** Ten of them are more than Node reads of a socket that is paused: only then its end is not seen by reading. */
const ENTRY = entryOf("x".repeat(20_000));

/** The longest time until a paused client that is gone is noticed, ms. */
const NOTICED_MS = 30_000;

const LIMITS: IngressSettings = {
  topics: { hot: { messages: 1 } },
  connection: { heldBytes: 2_000 },
};

interface Server {
  readonly port: number;
  readonly stats: () => ServerStats;
}

interface ServerOptions {
  readonly limits?: IngressSettings;
  readonly memoryBytesMax?: number;
}

const stops: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await endScene();
});

const SERVERS = {
  embedded: async (timer: VirtualTimer, options: ServerOptions): Promise<Server> => {
    const world = { timer, clock: timer, wallClock: timer, random: new SeededRandom(1), nextTurn };
    const listen = "pulsar://127.0.0.1:0";
    const broker = await startBroker({ listen, data: "memory", ...options }, world);
    stops.push(() => passUntil(timer, broker.close()));
    return broker;
  },
  relay: async (timer: VirtualTimer, options: ServerOptions): Promise<Server> => {
    const { url } = await startUpstream();
    const { gateway } = await startFront(url, options, { timer, clock: timer });
    stops.push(() => passUntil(timer, gateway.close()));
    return gateway;
  },
};

const LEAVES: Record<string, (client: RawClient) => void> = {
  FIN: ({ socket }) => void socket.destroy(),
  RST: ({ socket }) => void socket.resetAndDestroy(),
};

/** Why clients are paused. */
const PAUSES: Record<string, ServerOptions> = {
  "held bytes": { limits: LIMITS },
  memory: { memoryBytesMax: 16_000_000 },
};

const CASES = Object.keys(SERVERS).flatMap((server) =>
  Object.keys(PAUSES).flatMap((pause) =>
    Object.keys(LEAVES).map((leave) => [server, pause, leave]),
  ),
) as [keyof typeof SERVERS, string, string][];

test.each(CASES)(
  "%s: clients that are paused for %s and leave by %s are gone within 30 s",
  async (kind, pause, leave) => {
    const timer = new VirtualTimer();
    const server = await SERVERS[kind](timer, PAUSES[pause] ?? {});
    const clients = await Promise.all(
      Array.from({ length: CLIENTS[pause] ?? 0 }, () => RawClient.connected(server.port)),
    );
    const sends = Buffer.concat(
      Array.from({ length: 10 }, (_, at) =>
        frameBytes({ kind: "send", body: { producerId: 1n, sequenceId: BigInt(at) } }, ENTRY),
      ),
    );
    for (const client of clients) {
      client.send("producer", { topic: "hot", producerId: 1n, requestId: 1n });
      await client.next("producerSuccess");
    }
    const idle = pause === "memory" ? await fillMemory(server) : 0;
    for (const client of clients) client.socket.write(sends);
    await until(() => server.stats().pausedConnections === clients.length);
    for (const client of clients) LEAVES[leave]?.(client);
    for (let ms = 0; ms < NOTICED_MS && server.stats().connections > idle; ms += 1_000) {
      await timer.advance(1_000);
      // The kernel needs a moment of real time for the answer to what was written.
      await systemTimer.sleep(2);
    }
    const { connections, heldBytes, pausedConnections } = server.stats();
    expect({ connections, heldBytes, pausedConnections }).toEqual({
      connections: idle,
      heldBytes: 0,
      pausedConnections: 0,
    });
  },
);

/** Idle clients, until the memory that they take makes SENDs wait; answers their number. */
async function fillMemory(server: Server): Promise<number> {
  let count = 0;
  for (; server.stats().memoryBytes <= 0.75 * server.stats().memoryBytesMax; count++) {
    const client = await RawClient.connected(server.port);
    stops.unshift(() => client.close());
  }
  return count;
}

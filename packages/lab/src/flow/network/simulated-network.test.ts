import fc from "fast-check";
import { expect, test } from "vitest";
import type { Transport } from "@sluice/pulsar";
import { VirtualTime } from "../../simulation/engine/virtual-time.ts";
import type { ServerEnd } from "./server-end.ts";
import { SimulatedNetwork } from "./simulated-network.ts";

const RTT_MS = 20;
const NO_TAP = { onClientWrite: () => undefined, onServerBytes: (bytes: Buffer) => bytes };
const ENDPOINT = { host: "gateway", port: 6650, isTls: false };

/** A connection whose ends remember what they hear. */
class Link {
  readonly time = new VirtualTime();
  readonly atServer: Buffer[] = [];
  readonly atClient: Buffer[] = [];
  readonly events: string[] = [];
  #client: Transport | undefined;
  #server: ServerEnd | undefined;

  static async open(): Promise<Link> {
    const link = new Link();
    const accept = (server: ServerEnd): void => link.#accept(server);
    const network = new SimulatedNetwork({ time: link.time, rttMs: RTT_MS, accept });
    const dial = network.dialing(() => NO_TAP);
    void dial(ENDPOINT, new AbortController().signal).then((client) => link.#start(client));
    await link.time.runUntil(1_000, () => link.#client !== undefined);
    expect(link.time.now()).toBe(RTT_MS);
    return link;
  }

  get client(): Transport {
    if (this.#client === undefined) throw new Error("not open");
    return this.#client;
  }

  get server(): ServerEnd {
    if (this.#server === undefined) throw new Error("not open");
    return this.#server;
  }

  get serverBytes(): number {
    return this.atServer.reduce((sum, { length }) => sum + length, 0);
  }

  #accept(server: ServerEnd): void {
    this.#server = server;
    server.on("data", (chunk) => this.atServer.push(chunk));
    server.on("error", () => this.#note("server error"));
    server.on("close", () => this.#note("server close"));
  }

  #start(client: Transport): void {
    this.#client = client;
    client.start({
      onData: (bytes) => this.atClient.push(bytes),
      onDrain: () => this.#note("drain"),
      onClose: () => this.#note("client close"),
    });
  }

  #note(what: string): void {
    this.events.push(`${what} at ${this.time.now() - RTT_MS}`);
  }

  /** Milliseconds after the connection was made. */
  runUntil(ms: number): Promise<void> {
    return this.time.runUntil(RTT_MS + ms);
  }
}

test("all bytes arrive in order half a round trip later, whenever the server pauses", async () => {
  const step = fc.oneof(
    fc.record({ write: fc.integer({ min: 1, max: 200_000 }) }),
    fc.constant("pause" as const),
    fc.constant("resume" as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const link = await Link.open();
      const written: Buffer[] = [];
      for (const [i, each] of steps.entries())
        link.time.after(i, () => {
          if (each === "pause") link.server.pause();
          else if (each === "resume") link.server.resume();
          else {
            const bytes = Buffer.alloc(each.write, i);
            written.push(bytes);
            link.client.write(bytes);
          }
        });
      link.time.after(500, () => link.server.resume());
      await link.runUntil(1_000);
      expect(Buffer.concat(link.atServer).equals(Buffer.concat(written))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test("a server that reads has bytes half a round trip after they were written", async () => {
  const link = await Link.open();
  link.client.write(Buffer.from("to"));
  link.server.write(Buffer.from("from"));
  await link.runUntil(RTT_MS / 2);
  expect([link.atServer, link.atClient]).toEqual([[], []]);
  await link.runUntil(RTT_MS / 2 + 0.001);
  expect(String(link.atServer) + String(link.atClient)).toBe("tofrom");
});

test("kernels keep 4 MB that the server does not read, then the client must wait, and hears when it may go on", async () => {
  const link = await Link.open();
  link.server.pause();
  let isWritable = true;
  let writtenBytes = 0;
  const write = (): void => {
    while (isWritable) {
      isWritable = link.client.write(Buffer.alloc(100_000));
      writtenBytes += 100_000;
    }
  };
  write();
  // What one turn writes is taken by the kernel only afterwards.
  for (let turn = 1; turn < 100; turn++)
    link.time.after(turn, () => {
      if (link.events.length > 0) isWritable = true;
      link.events.length = 0;
      write();
    });
  await link.runUntil(1_000);
  // 4 MB in kernels and less than one turn's writes in the client.
  expect(writtenBytes).toBeGreaterThan(4_000_000);
  expect(writtenBytes).toBeLessThan(4_000_000 + 2 * 1_200_000);
  expect([link.serverBytes, link.server.isPaused]).toEqual([0, true]);
  link.time.at(RTT_MS + 1_000, () => link.server.resume());
  await link.runUntil(2_000);
  expect(link.serverBytes).toBe(writtenBytes);
  // Once the server reads, the client learns of the room half a round trip later.
  expect(link.events).toEqual([expect.stringMatching(/^drain at /)]);
  expect(link.server.pausedMs).toBeCloseTo(1_000, 0);
});

/** What a paused server hears of a client that has left, and acts after 100 ms. */
const ends = async (act: (server: ServerEnd) => void): Promise<string[]> => {
  const link = await Link.open();
  link.server.pause();
  link.client.write(Buffer.from("unread"));
  link.time.after(5, () => link.client.close());
  link.time.after(100, () => act(link.server));
  await link.runUntil(99);
  expect(link.events).toEqual([]);
  await link.runUntil(1_000);
  return [...link.atServer.map(String), ...link.events];
};

test("a paused server does not see that its client has left, until it reads or writes", async () => {
  expect(await ends((server) => server.resume())).toEqual(["unread", "server close at 100"]);
  expect(await ends((server) => server.write(Buffer.from("PING")))).toEqual([
    "server error at 120",
    "server close at 120",
  ]);
});

test("a server that ends or destroys its side is heard after what it wrote", async () => {
  for (const act of [
    (server: ServerEnd): void => server.end(Buffer.from("bye")),
    (server: ServerEnd): void => {
      server.write(Buffer.from("bye"));
      server.destroy();
    },
  ]) {
    const link = await Link.open();
    act(link.server);
    await link.runUntil(1_000);
    expect(String(link.atClient)).toBe("bye");
    expect(link.events).toContain("client close at 10");
    expect(link.events.filter((event) => event.startsWith("server close"))).toHaveLength(1);
  }
});

/** JetStream streams of a real nats-server as source and sink of a pipeline. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Sink, Source } from "@sluice/pipeline";
import { natsSink, natsSource } from "@sluice/pipeline/nats";
import type { NatsSinkOptions, NatsSourceOptions } from "@sluice/pipeline/nats";
import { VirtualTimer } from "@sluice/core/testing";
import {
  messagesOf,
  neverAborted,
  readMany,
  readOnce,
  testContext,
  textsOf,
  untilResolved,
} from "../packages/pipeline/test/connector-context.ts";
import type { TestContext } from "../packages/pipeline/test/connector-context.ts";
import { sinkContract } from "../packages/pipeline/test/sink-contract.ts";
import { sourceContract } from "../packages/pipeline/test/source-contract.ts";
import { serverProgram, untilFound } from "./programs/found.ts";
import { natsUrl, startNats } from "./servers/nats-server.ts";
import type { ServerProcess } from "./servers/server-process.ts";

await untilFound(["nats"]);
const program = serverProgram("nats");
const SKIPPED = "missing" in program ? ` (skipped: ${program.missing})` : "";

const SUBJECT = "orders.new";
const opened: { close(): Promise<void> }[] = [];
let server: ServerProcess;
let stream = "";
let streams = 0;

describe.skipIf(SKIPPED !== "")(`a stream of NATS${SKIPPED}`, () => {
  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    if (stream !== "") await manage((manager) => manager.streams.delete(stream));
    stream = `orders-${++streams}`;
    await manage((manager) => manager.streams.add({ name: stream, subjects: ["orders.>"] }));
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
  });

  test("carries value, key, headers and time from a sink to a source", async () => {
    const sink = await openSink();
    const message = {
      id: "m1",
      value: { total: 5 },
      key: "customer-7",
      headers: { traceparent: "00-1" },
      eventTimeMs: 1234,
    };
    expect(await sink.write([message], { signal: neverAborted })).toEqual([undefined]);
    const [read] = await readMany(await openSource(), 1);
    expect(read).toEqual({ ...message, id: `${stream}:1`, value: Buffer.from('{"total":5}') });
  });

  test("answers no more messages than it may, and nothing after the wait", async () => {
    const source = await openSource();
    expect(await readOnce(source, 10, 50)).toEqual([]);
    await add(1, 2, 3);
    expect(textsOf(await readMany(source, 2))).toEqual(["1", "2"]);
    expect(textsOf(await readMany(source, 1))).toEqual(["3"]);
  });

  test("answers a message as soon as it is there", async () => {
    const source = await openSource();
    const read = readOnce(source, 10, 30_000);
    await add(1);
    expect(textsOf(await read)).toEqual(["1"]);
  });

  test("answers messages that came together in one read", async () => {
    const source = await openSource();
    const read = readOnce(source, 100, 30_000);
    await add(...Array.from({ length: 100 }, (_, index) => index));
    const first = await read;
    const rest = first.length < 100 ? await readOnce(source, 100, 30_000) : [];
    // The server sends them in a few packets.
    expect(Math.max(first.length, rest.length)).toBeGreaterThan(10);
  });

  test("ends its wait when the signal aborts", async () => {
    const source = await openSource();
    const controller = new AbortController();
    const read = source.read(1, { signal: controller.signal, waitMs: 100_000 });
    controller.abort();
    expect(await read).toEqual([]);
  });

  test("shares its messages between two sources of one consumer", async () => {
    await add(...Array.from({ length: 100 }, (_, index) => index));
    const [one, two] = [await openSource(), await openSource()];
    const found: string[] = [];
    while (found.length < 100)
      for (const source of [one, two]) {
        const messages = await readOnce(source, 10, 100);
        found.push(...textsOf(messages));
        await source.ack(messages);
      }
    expect(new Set(found).size).toBe(100);
    expect(await pending()).toBe(0);
  });

  test("has nothing pending once all is acknowledged, in any order", async () => {
    await add(...Array.from({ length: 2500 }, (_, index) => index));
    const source = await openSource();
    const messages = await readMany(source, 2500);
    await source.ack(messages.toReversed());
    expect(await pending()).toBe(0);
  });

  test("delivers a message again that was given back", async () => {
    await add(1);
    const source = await openSource();
    const first = await readMany(source, 1);
    await source.nack?.(first);
    expect(await readMany(source, 1)).toEqual(first);
  });

  test("gives a closed source's unread messages to another one at once", async () => {
    await add(1, 2, 3);
    const one = await openSource();
    // One is read, the others of the fetch have arrived.
    const read = await readOnce(one, 3, 5000);
    await one.nack?.(read);
    await one.close();
    expect(textsOf(await readMany(await openSource(), 3)).toSorted()).toEqual(["1", "2", "3"]);
  });

  test("gives the messages of a dead consumer to another one", async () => {
    await add(1, 2);
    const dead = await openSource({ ackWaitMs: 1000 }, deadContext());
    expect(await readMany(dead, 2)).toHaveLength(2);
    const other = await openSource();
    expect(textsOf(await readMany(other, 2)).toSorted()).toEqual(["1", "2"]);
  });

  // A busy machine may stop this process for longer than a sign of life can be late.
  test(
    "leaves messages with a source that works on them longer than the ack wait",
    { retry: 2 },
    async () => {
      await add(1);
      const source = await openSource({ ackWaitMs: 1000 });
      const messages = await readMany(source, 1);
      expect(await readOnce(source, 1, 2500)).toEqual([]);
      await source.ack(messages);
      expect(await pending()).toBe(0);
    },
  );

  test("leaves out a message that the stream already has", async () => {
    const sink = await openSink();
    for (let count = 0; count < 2; count++)
      expect(await sink.write(messagesOf("a", "b"), { signal: neverAborted })).toEqual([
        undefined,
        undefined,
      ]);
    const { state } = await manage((manager) => manager.streams.info(stream));
    expect(state.messages).toBe(2);
  });

  test("loses nothing acknowledged and repeats the rest after a restart of the server", async () => {
    const context = deadContext();
    const [sink, source] = [await openSink(), await openSource({ ackWaitMs: 2000 }, context)];
    await sink.write(messagesOf(1, 2, 3, 4), { signal: neverAborted });
    const messages = await readMany(source, 3);
    await source.ack(messages.slice(0, 1));
    // Its stop writes acknowledgements out; after a crash the server itself delivers the last of them again.
    await server.kill("SIGTERM");
    await expect(readOnce(source, 1, 50)).rejects.toThrow(/connection was lost/);
    const [failed] = (await sink.write(messagesOf(5), { signal: neverAborted })) ?? [];
    expect(failed?.isRetriable).toBe(true);
    await expect(source.ack(messages.slice(1, 2))).rejects.toThrow(/connection was lost/);
    await server.start();
    await untilResolved(() => source.ack(messages.slice(1, 2)));
    expect(context.told.map(({ text }) => text)).toContainEqual(expect.stringMatching(/again/));
    // The acknowledgement that failed was sent again; the third and fourth message were never acknowledged.
    const other = await openSource();
    expect((await readSoon(other, 2)).toSorted()).toEqual(["3", "4"]);
    expect(await readOnce(other, 1, 100)).toEqual([]);
  });

  test("has every unacknowledged and every confirmed message after a crash of the server", async () => {
    const [sink, source] = [await openSink(), await openSource({ ackWaitMs: 2000 }, deadContext())];
    await sink.write(messagesOf(1, 2, 3), { signal: neverAborted });
    await source.ack((await readMany(source, 2)).slice(0, 1));
    await server.kill();
    await server.start();
    const other = await openSource();
    const found = new Set<string>();
    while (!found.has("2") || !found.has("3"))
      for (const text of await readSoon(other, 1)) found.add(text);
  });

  test("fails a message that is too large, and only that one", async () => {
    const sink = await openSink();
    const results = await sink.write(messagesOf("a", "x".repeat(2_000_000)), {
      signal: neverAborted,
    });
    expect(results?.map((each) => each?.isRetriable)).toEqual([undefined, false]);
    expect(results?.[1]?.error.message).toMatch(/2000000 bytes; the server takes 1048576/);
  });

  test("refuses an unknown stream with the way out", async () => {
    const servers = natsUrl(server);
    const source = natsSource({ servers, stream: "nothing", consumer: "billing" });
    await expect(source.open(testContext())).rejects.toThrow(
      /stream not found; create the stream first/,
    );
    const sink = await openSink({ subject: "nothing.here" });
    const [result] = (await sink.write(messagesOf(1), { signal: neverAborted })) ?? [];
    expect(result?.error.message).toMatch(/no stream takes the subject nothing\.here; create one/);
  });

  test("says how many messages wait to be read", async () => {
    await add(1, 2, 3);
    const source = await openSource();
    expect(await source.backlog?.()).toBe(3);
  });
});

describe.skipIf(SKIPPED !== "")(`with NATS${SKIPPED}`, () => {
  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(() => server.stop());

  sourceContract(
    "a stream of NATS",
    async () => {
      await setUp();
      const settings = { servers: natsUrl(server), stream, consumer: "billing" };
      return { connector: natsSource(settings), put: (values) => add(...values), tearDown };
    },
    // The server delivers messages again in any order.
    { isOrdered: false },
  );

  sinkContract("a stream of NATS", async () => {
    await setUp();
    const settings = { servers: natsUrl(server), stream, consumer: "reader" };
    const all = async (count: number) => {
      const reader = await natsSource(settings).open(testContext());
      const messages = await readMany(reader, count);
      await reader.close();
      return messages;
    };
    return {
      connector: natsSink({ servers: natsUrl(server), subject: SUBJECT, timeoutMs: 1000 }),
      received: async (count) => textsOf(await all(count)),
      headers: async () => (await all(1))[0]?.headers ?? {},
      fail: tearDown,
      mend: async () => {
        await manage((manager) => manager.streams.add({ name: stream, subjects: ["orders.>"] }));
      },
      tearDown,
    };
  });
});

describe.skipIf(SKIPPED !== "")(`a NATS with users${SKIPPED}`, () => {
  test("fails messages to a subject that the user has no right to, with the way out", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-nats-users-"));
    const file = join(folder, "users.conf");
    const user = '{ user: me, password: right-one, permissions: { publish: { deny: "secret" } } }';
    await writeFile(file, `authorization { users: [ ${user} ] }`);
    const guarded = await startNats(["-c", file]);
    try {
      const connection = { user: "me", pass: "right-one" };
      const sink = await natsSink({
        servers: natsUrl(guarded),
        subject: "secret",
        connection,
      }).open(testContext());
      const [result] = (await sink.write(messagesOf(1), { signal: neverAborted })) ?? [];
      expect(result?.error.message).toMatch(/give the user the right to this subject/);
      await sink.close();
    } finally {
      await guarded.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("refuses a wrong password with the way out", async () => {
    const guarded = await startNats(["--user", "me", "--pass", "right-one"]);
    try {
      const connection = { user: "me", pass: "wrong-one" };
      const sink = natsSink({ servers: natsUrl(guarded), subject: "a", connection });
      const refused = sink.open(testContext());
      await expect(refused).rejects.toMatchObject({ code: "CONNECTION", canHeal: false });
      await expect(refused).rejects.toThrow(/Authorization.*mend user and pass/i);
    } finally {
      await guarded.stop();
    }
  });
});

async function setUp(): Promise<void> {
  // nats-server 2.15.2: of 3580 streams created right after the removal of one of that name, 1528 had its messages.
  stream = `contract-${++streams}`;
  await manage((manager) => manager.streams.add({ name: stream, subjects: ["orders.>"] }));
}

async function tearDown(): Promise<void> {
  await manage((manager) => manager.streams.delete(stream));
}

async function openSource(
  options: Partial<NatsSourceOptions> = {},
  context: TestContext = testContext(),
): Promise<Source<Buffer>> {
  const settings = { servers: natsUrl(server), stream, consumer: "billing", timeoutMs: 2000 };
  const source = await natsSource({ ...settings, ...options }).open(context);
  opened.push(source);
  return source;
}

async function openSink(options: Partial<NatsSinkOptions> = {}): Promise<Sink> {
  const settings = { servers: natsUrl(server), subject: SUBJECT, timeoutMs: 2000, ...options };
  const sink = await natsSink(settings).open(testContext());
  opened.push(sink);
  return sink;
}

async function add(...values: readonly unknown[]): Promise<void> {
  const settings = { servers: natsUrl(server), subject: SUBJECT, deduplicate: false };
  const sink = await natsSink(settings).open(testContext());
  await sink.write(messagesOf(...values), { signal: neverAborted });
  await sink.close();
}

/** Of a process that has stopped: it gives no sign of life, since its clock stands still. */
function deadContext(): TestContext {
  return testContext(new VirtualTimer());
}

/** Reads until `count` messages have come; failed reads are tried again. */
async function readSoon(source: Source<Buffer>, count: number): Promise<string[]> {
  const found: string[] = [];
  while (found.length < count)
    found.push(...textsOf(await readOnce(source, 10, 500).catch(() => [])));
  return found;
}

type Manager = Awaited<ReturnType<typeof jetstreamManager>>;

async function manage<T>(act: (manager: Manager) => Promise<T>): Promise<T> {
  const client = await connect({ servers: natsUrl(server) });
  try {
    return await act(await jetstreamManager(client));
  } finally {
    await client.close();
  }
}

/** Messages that were delivered and not acknowledged. */
async function pending(): Promise<number> {
  const info = await manage((manager) => manager.consumers.info(stream, "billing"));
  return info.num_ack_pending + info.num_pending;
}

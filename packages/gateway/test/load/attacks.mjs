// Clients that ask for as much as the protocol allows, in a process of their own.
// usage: node attacks.mjs NAME PORT COUNT; IPC: "ready" once the attack is on its way.
import { connect } from "node:net";
import { systemTimer } from "@sluice/core/system";
import {
  encodeEntry,
  encodeFrame,
  encodeFrameHead,
  FrameDecoder,
  decodeFrame,
} from "@sluice/pulsar/wire";

const [, , name = "", port = "", count = "1"] = process.argv;
const CONNECT = encodeFrame({
  kind: "connect",
  body: { clientVersion: "load", protocolVersion: 21 },
});

/** A socket that was let in. */
function client({ reads = true } = {}) {
  return new Promise((resolve) => {
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(CONNECT));
    const decoder = new FrameDecoder();
    const one = { socket, waiting: undefined, closed: false };
    socket.on("error", () => {});
    socket.on("close", () => {
      one.closed = true;
      one.waiting?.("closed");
      resolve(one);
    });
    socket.on("data", (chunk) => {
      decoder.push(chunk);
      for (let bytes = decoder.next(); bytes !== undefined; bytes = decoder.next()) {
        const { command } = decodeFrame(bytes);
        if (command.kind === "connected") {
          if (!reads) socket.pause();
          resolve(one);
        } else one.waiting?.(command);
      }
    });
  });
}

const send = ({ socket }, kind, body, entry) => {
  if (entry === undefined) return socket.write(encodeFrame({ kind, body }));
  socket.write(encodeFrameHead({ kind, body }, entry.length));
  return socket.write(entry);
};

/** Waits for an answer of this kind. */
const answer = (one, kind) =>
  one.closed
    ? Promise.resolve("closed")
    : new Promise((resolve) => {
        one.waiting = (command) => {
          if (command !== "closed" && command.kind !== kind && command.kind !== "error") return;
          one.waiting = undefined;
          resolve(command);
        };
      });

const entryOf = (bytes) =>
  encodeEntry({ producerName: "p", sequenceId: 0n, publishTime: 0n }, Buffer.alloc(bytes, 120));

async function many(open, batch = 50) {
  const all = [];
  while (all.length < Number(count)) {
    const size = Math.min(batch, Number(count) - all.length);
    all.push(...(await Promise.all(Array.from({ length: size }, open))));
  }
  return all;
}

const ATTACKS = {
  /** Nothing after CONNECT. */
  idle: () => many(() => client()),

  /** A 5 MB frame without its last byte. */
  async partialFrames() {
    const clients = await many(() => client());
    const entry = entryOf(5_000_000);
    const head = encodeFrameHead(
      { kind: "send", body: { producerId: 1n, sequenceId: 1n } },
      entry.length,
    );
    for (const { socket } of clients) {
      socket.write(head);
      socket.write(entry.subarray(0, -1));
    }
  },

  /** Requests with large answers, which are not read. */
  async unreadAnswers() {
    const clients = await many(() => client({ reads: false }));
    const ask = encodeFrame({
      kind: "getTopicsOfNamespace",
      body: { namespace: "public/default", requestId: 1n },
    });
    const asks = Buffer.concat(Array.from({ length: 100 }, () => ask));
    for (const { socket } of clients) socket.write(asks);
  },

  /** Many consumers of a topic with a backlog, which read nothing. */
  async unreadMessages() {
    const clients = await many(() => client({ reads: false }));
    for (const [index, one] of clients.entries())
      for (let consumerId = 0; consumerId < 10; consumerId++) {
        const subscription = `s-${index}-${consumerId}`;
        const ids = { consumerId: BigInt(consumerId), requestId: BigInt(consumerId) };
        const start = { initialPosition: 1, durable: false };
        const topic = `backlog-${index % 5}`;
        send(one, "subscribe", { topic, subscription, subType: 1, ...ids, ...start });
        send(one, "flow", { consumerId: ids.consumerId, messagePermits: 100_000 });
      }
  },

  /** GET_TOPICS again and again. */
  async getTopics() {
    for (const one of await many(() => client())) void loopTopics(one);
  },

  /** ACKs of 10,000 ids far from each other, which become as many ranges as a cursor keeps. */
  async acks() {
    for (const [index, one] of (await many(() => client())).entries()) void loopAcks(one, index);
  },

  /** REDELIVER of everything, with as many messages out as the broker gives. */
  async redeliver() {
    for (const [index, one] of (await many(() => client())).entries())
      void loopRedeliver(one, index);
  },

  /** A schema of 150 KB that differs in its last byte, and the same again. */
  async schemas() {
    for (const [index, one] of (await many(() => client())).entries()) void loopSchemas(one, index);
  },

  /** Ten thousand topics, by one client, one after the other. */
  async topics() {
    const one = await client();
    for (let index = 0; index < Number(count); index++) {
      const id = BigInt(index);
      send(one, "producer", { topic: `topic-with-a-name-${index}`, producerId: 1n, requestId: id });
      await answer(one, "producerSuccess");
      send(one, "closeProducer", { producerId: 1n, requestId: id });
      await answer(one, "success");
    }
  },

  /** A backlog of 10 MB in 5 topics. */
  async backlog() {
    const one = await client();
    const entry = entryOf(256 * 1024);
    for (let index = 0; index < 5; index++) {
      const topic = `backlog-${index}`;
      const ids = { consumerId: 1n, requestId: 1n };
      send(one, "subscribe", { topic, subscription: "keep", subType: 1, ...ids });
      await answer(one, "success");
      send(one, "closeConsumer", { consumerId: 1n, requestId: 2n });
      await answer(one, "success");
      send(one, "producer", { topic, producerId: 1n, requestId: 1n });
      await answer(one, "producerSuccess");
      for (let sequenceId = 0n; sequenceId < 8n; sequenceId++) {
        send(one, "send", { producerId: 1n, sequenceId }, entry);
        await answer(one, "sendReceipt");
      }
      send(one, "closeProducer", { producerId: 1n, requestId: 2n });
      await answer(one, "success");
    }
  },
};

async function loopTopics(one) {
  while (!one.closed) {
    for (let index = 0; index < 10; index++)
      send(one, "getTopicsOfNamespace", { namespace: "public/default", requestId: 1n });
    for (let index = 0; index < 10; index++) await answer(one, "getTopicsOfNamespaceResponse");
  }
}

async function subscribed(one, topic) {
  const ids = { consumerId: 1n, requestId: 1n };
  send(one, "subscribe", { topic, subscription: "s", subType: 1, ...ids });
  await answer(one, "success");
}

async function loopAcks(one, index) {
  await subscribed(one, `acked-${index}`);
  for (let first = 0n; !one.closed; first = (first + 20_001n) % 4_000_000n) {
    const messageIds = Array.from({ length: 10_000 }, (_, id) => ({
      ledgerId: 0n,
      entryId: first + 2n * BigInt(id) + 1_000n,
    }));
    send(one, "ack", { consumerId: 1n, ackType: 0, messageIds, requestId: 2n });
    await answer(one, "ackResponse");
  }
}

async function loopRedeliver(one, index) {
  const topic = `redelivered-${index}`;
  await subscribed(one, topic);
  send(one, "producer", { topic, producerId: 1n, requestId: 1n });
  await answer(one, "producerSuccess");
  const entry = entryOf(16);
  for (let sequenceId = 0n; sequenceId < 20_000n; sequenceId += 500n) {
    for (let add = 0n; add < 500n; add++)
      send(one, "send", { producerId: 1n, sequenceId: sequenceId + add }, entry);
    await answer(one, "sendReceipt");
  }
  send(one, "flow", { consumerId: 1n, messagePermits: 1_000_000 });
  while (!one.closed) {
    send(one, "redeliverUnacknowledged", { consumerId: 1n });
    await systemTimer.sleep(50);
  }
}

async function loopSchemas(one, index) {
  for (let version = 0; !one.closed; version = (version + 1) % 60) {
    const schemaData = Buffer.alloc(150_000, 32);
    schemaData.write(String(version), schemaData.length - 8);
    const schema = { name: "s", schemaData, type: 1 };
    send(one, "getOrCreateSchema", { topic: `schema-${index}`, requestId: 1n, schema });
    await answer(one, "getOrCreateSchemaResponse");
  }
}

process.on("disconnect", () => process.exit(0));
await ATTACKS[name]();
process.send?.({ ready: true });

// Clients that break publish limits in every way that the protocol allows, in a process of their own.
// usage: node publish-attacks.mjs all PORT COUNT; IPC: { ready, facts } once all of them are at work. Clients
// that are closed come back.
import { connect } from "node:net";
import { systemTimer } from "@sluice/core/system";
import {
  decodeFrame,
  encodeEntry,
  encodeFrame,
  encodeFrameHead,
  FrameDecoder,
  ThrottleCodec,
} from "@sluice/pulsar/wire";

const [, , , port = "", count = "1"] = process.argv;
const codec = new ThrottleCodec();
const facts = { clients: 0, closed: 0, notices: 0, receipts: 0 };
const LARGE = entryOf(600_000);
const SMALL = entryOf(2_000);

function entryOf(bytes) {
  const metadata = { producerName: "p", sequenceId: 0n, publishTime: 0n };
  return encodeEntry(metadata, Buffer.alloc(bytes, 120));
}

const command = (kind, body) => encodeFrame({ kind, body });
const sendFrame = (sequenceId, entry) => {
  const send = { kind: "send", body: { producerId: 1n, sequenceId } };
  return Buffer.concat([encodeFrameHead(send, entry.length), entry]);
};
const receiptOf = (requestId) =>
  encodeFrame(codec.encode({ kind: "throttleProducerReceipt", body: { requestId } }));
const producer = (topic = "hostile") =>
  command("producer", { topic, producerId: 1n, requestId: 1n });
const CLOSE = command("closeProducer", { producerId: 1n, requestId: 2n });

/** A client that was let in; `onNotice` hears the request ids of throttle commands. */
function client(isAware, onNotice = () => {}) {
  return new Promise((resolve) => {
    const socket = connect(Number(port), "127.0.0.1");
    const featureFlags = isAware ? codec.announceIn({}) : {};
    socket.write(command("connect", { clientVersion: "bad", protocolVersion: 21, featureFlags }));
    const decoder = new FrameDecoder();
    socket.on("error", () => {});
    socket.on("close", () => {
      facts.closed++;
      resolve(socket);
    });
    socket.on("data", (chunk) => {
      decoder.push(chunk);
      for (let bytes = decoder.next(); bytes !== undefined; bytes = decoder.next()) {
        const { command: got } = decodeFrame(bytes);
        if (got.kind === "connected") resolve(socket);
        const notice = got.kind === "unknown" ? codec.decode(got) : undefined;
        if (notice?.kind !== "throttleProducer") continue;
        facts.notices++;
        onNotice(notice.body.requestId, socket);
      }
    });
  });
}

/** Writes as long as the server reads. */
async function flood(socket, next) {
  while (!socket.destroyed) {
    if (socket.writableLength < 100_000) socket.write(next());
    await systemTimer.sleep(100);
  }
}

/** Made once, so that a thousand clients cost little. */
const LARGE_SEND = sendFrame(1n, LARGE);
const SMALL_SENDS = Buffer.concat(Array.from({ length: 50 }, () => sendFrame(1n, SMALL)));
const RECEIPTS = Buffer.concat(Array.from({ length: 50 }, (_, at) => receiptOf(BigInt(at))));
const OPEN_AND_CLOSE = Buffer.concat(
  Array.from({ length: 10 }, () => [
    producer(),
    sendFrame(1n, SMALL),
    sendFrame(1n, SMALL),
    CLOSE,
  ]).flat(),
);
const LOOKUPS = Buffer.concat(
  Array.from({ length: 50 }, () => command("lookup", { topic: "hostile", requestId: 1n })),
);

const ATTACKS = [
  async function partialFrame() {
    const socket = await client(false);
    socket.write(producer());
    socket.write(LARGE_SEND.subarray(0, -1));
    while (!socket.destroyed) await systemTimer.sleep(100);
  },
  async function largeSends() {
    const socket = await client(false);
    socket.write(producer());
    await flood(socket, () => LARGE_SEND);
  },
  async function smallSends() {
    const socket = await client(false);
    socket.write(producer());
    await flood(socket, () => SMALL_SENDS);
  },
  async function forgedReceipts() {
    const socket = await client(true);
    socket.write(producer());
    await flood(socket, () => RECEIPTS);
  },
  async function noReceipts() {
    const socket = await client(true);
    socket.write(producer());
    await flood(socket, () => SMALL_SENDS);
  },
  async function liar() {
    const socket = await client(true, (requestId, to) => {
      facts.receipts++;
      to.write(receiptOf(requestId));
    });
    socket.write(producer());
    await flood(socket, () => SMALL_SENDS);
  },
  async function openAndClose() {
    const socket = await client(false);
    await flood(socket, () => OPEN_AND_CLOSE);
  },
  async function unreadAnswers() {
    const socket = await client(false);
    socket.pause();
    await flood(socket, () => LOOKUPS);
  },
];

async function attackForEver(index) {
  for (;;) {
    const attack = ATTACKS[index % ATTACKS.length]();
    facts.clients++;
    await attack;
    await systemTimer.sleep(500);
  }
}

process.on("disconnect", () => process.exit(0));
for (let index = 0; index < Number(count); index++) {
  void attackForEver(index);
  if (index % 50 === 49) await systemTimer.sleep(20);
}
await systemTimer.sleep(3_000);
process.send?.({ ready: true, facts });

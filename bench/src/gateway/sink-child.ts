/** A broker that stores nothing: it opens producers and sends a receipt for each SEND. */
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { decodeFrame, encodeFrame, FrameDecoder, MESSAGE_BYTES_MAX } from "@sluice/pulsar/wire";
import type { Command } from "@sluice/pulsar/wire";
import { serveParent } from "./child.ts";

const server = createServer((socket) => serve(socket));
server.listen(0, "127.0.0.1", () => serveParent((server.address() as AddressInfo).port));

function serve(socket: Socket): void {
  const decoder = new FrameDecoder();
  socket.setNoDelay(true);
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    decoder.push(chunk);
    const answers: Buffer[] = [];
    for (let bytes = decoder.next(); bytes !== undefined; bytes = decoder.next()) {
      const answer = answerTo(decodeFrame(bytes).command);
      if (answer !== undefined) answers.push(encodeFrame(answer));
    }
    if (answers.length > 0) socket.write(Buffer.concat(answers));
  });
}

function answerTo(command: Command): Command | undefined {
  if (command.kind === "send") {
    const { producerId, sequenceId } = command.body;
    const messageId = { ledgerId: 1n, entryId: sequenceId };
    return { kind: "sendReceipt", body: { producerId, sequenceId, messageId } };
  }
  if (command.kind === "ping") return { kind: "pong", body: {} };
  if (command.kind === "connect")
    return {
      kind: "connected",
      body: { serverVersion: "sink", protocolVersion: 21, maxMessageSize: MESSAGE_BYTES_MAX },
    };
  if (command.kind !== "producer") return undefined;
  const { requestId } = command.body;
  const opened = { producerName: "load", lastSequenceId: -1n, schemaVersion: Buffer.alloc(0) };
  return { kind: "producerSuccess", body: { requestId, ...opened } };
}

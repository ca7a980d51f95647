/** Sends requests from a process of its own, so that only the server's work is measured. */
import { connect } from "node:net";
import type { Socket } from "node:net";

/** What the parent asks for: `count` requests to `port`. */
export interface LoadOrder {
  readonly port: number;
  readonly count: number;
}

/** Keep-alive connections to each server, each with one request under way. */
const CONNECTIONS = 16;
const REQUEST = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
const HEAD_END = "\r\n\r\n";

/** By port, so that a slice does not begin with new connections. */
const connections = new Map<number, readonly Socket[]>();

process.on("message", ({ port, count }: LoadOrder) => {
  const sockets =
    connections.get(port) ??
    Array.from({ length: CONNECTIONS }, () => connect({ port, host: "127.0.0.1" }));
  connections.set(port, sockets);
  let left = count;
  let answered = 0;
  let served = 0;
  const send = (socket: Socket): void => {
    if (left-- > 0) socket.write(REQUEST);
  };
  for (const socket of sockets) {
    let text = "";
    socket.removeAllListeners("data");
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const headEnd = text.indexOf(HEAD_END);
      // The body is five bytes: hello.
      if (headEnd === -1 || text.length < headEnd + HEAD_END.length + 5) return;
      if (text.startsWith("HTTP/1.1 200 ")) served++;
      text = "";
      answered++;
      if (answered === count) process.send?.(served);
      else send(socket);
    });
    send(socket);
  }
});
process.on("disconnect", () => process.exit());

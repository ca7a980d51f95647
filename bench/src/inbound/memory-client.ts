import type { Server } from "node:http";
import { Duplex } from "node:stream";

const REQUEST = Buffer.from("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
const SERVED = Buffer.from("HTTP/1.1 200 ");

/** Connections to each server, each with one request under way. */
const CONNECTIONS = 16;

/** A connection within this process: what a socket costs is the kernel's work, and it varies more than a limiter costs. */
class MemoryConnection extends Duplex {
  readonly remoteAddress = "127.0.0.1";
  /** Called with whether the answer is one of status 200. */
  onAnswer: (isServed: boolean) => void = () => undefined;

  request(): void {
    this.push(REQUEST);
  }

  override _read(): void {
    // Requests are pushed.
  }

  /** Node writes head and body of an answer that is sent whole in one go. */
  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.onAnswer(chunk.subarray(0, SERVED.length).equals(SERVED));
    done();
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    const [first] = chunks;
    this.onAnswer(first?.chunk.subarray(0, SERVED.length).equals(SERVED) === true);
    done();
  }
}

/** Sends `count` requests to a server that need not listen; answers how many were served. */
export function createMemoryClient(server: Server): (count: number) => Promise<number> {
  const connections = Array.from({ length: CONNECTIONS }, () => {
    const connection = new MemoryConnection();
    server.emit("connection", connection);
    return connection;
  });
  return (count) =>
    new Promise((resolve) => {
      let left = count;
      let answered = 0;
      let served = 0;
      for (const connection of connections) {
        connection.onAnswer = (isServed) => {
          answered++;
          if (isServed) served++;
          if (answered === count) resolve(served);
          // In a later turn, as from a socket; `server` still works on this answer.
          else if (left-- > 0) setImmediate(() => connection.request());
        };
        if (left-- > 0) connection.request();
      }
    });
}

import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { nextTurn } from "@sluice/core/system";
import { expect, onTestFinished, test } from "vitest";
import { AUTHORITY, LOCALHOST } from "../../../../../pulsar/test/certificates.ts";
import { setReading } from "./set-reading.ts";

const SENT_BYTES = 8 * 1024 * 1024;

interface Kind {
  readonly server: () => Server;
  readonly event: "connection" | "secureConnection";
  readonly dial: (port: number) => Socket;
}

const KINDS: Readonly<Record<string, Kind>> = {
  TCP: {
    server: () => createServer(),
    event: "connection",
    dial: (port) => connect(port, "127.0.0.1"),
  },
  TLS: {
    server: () => createTlsServer({ ...LOCALHOST }),
    event: "secureConnection",
    dial: (port) => connectTls({ port, host: "127.0.0.1", ca: AUTHORITY }),
  },
};

test.each(Object.keys(KINDS))(
  "a socket of %s that is paused and resumed over and over stays open and loses no byte",
  async (name) => {
    const { server: make, event, dial } = KINDS[name] as Kind;
    const server = make().listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = dial((server.address() as AddressInfo).port);
    onTestFinished(() => {
      client.destroy();
      server.close();
    });
    const [socket] = (await once(server, event)) as [Socket];
    let bytes = 0;
    let chunks = 0;
    const resumeLater = async (turns: number): Promise<void> => {
      while (turns-- > 0) await nextTurn();
      setReading(socket, true);
    };
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (++chunks % 3 !== 0) return;
      setReading(socket, false);
      void resumeLater(chunks % 5);
    });
    const closed = once(socket, "close");
    client.end(Buffer.alloc(SENT_BYTES));
    await closed;
    expect(socket.errored).toBeNull();
    expect(bytes).toBe(SENT_BYTES);
  },
);

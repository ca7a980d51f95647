import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import type { TLSSocket, TlsOptions as ServerOptions } from "node:tls";
import { describe, expect, test } from "vitest";
import { createSocketDial } from "../src/client/connection/socket-transport.ts";
import type { TlsOptions } from "../src/client/connection/socket-transport.ts";
import { connect } from "../src/client/api/connect.ts";
import { decodeFrame, encodeFrame } from "../src/wire/frame.ts";
import { AUTHORITY, CLIENT, ELSEWHERE, EXPIRED, LOCALHOST, UNKNOWN } from "./certificates.ts";
import type { Certificate } from "./certificates.ts";

interface Peer {
  readonly port: number;
  /** Bytes from clients, decrypted. */
  readonly heard: Buffer[];
  close(): Promise<void>;
}

/** A server that answers every read with CONNECTED. */
async function serve(certificate: Certificate, options: ServerOptions = {}): Promise<Peer> {
  const heard: Buffer[] = [];
  const sockets = new Set<TLSSocket>();
  const server = createServer({ ...certificate, ...options }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => {
      heard.push(bytes);
      socket.write(encodeFrame({ kind: "connected", body: { serverVersion: "tls" } }));
    });
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "localhost");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    heard,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Connects with a token, closes at once, and returns the commands that the server received. */
async function heardBy(certificate: Certificate, tls: TlsOptions): Promise<string[]> {
  const peer = await serve(certificate);
  try {
    const client = await connect(`pulsar+ssl://localhost:${peer.port}`, { token: "secret", tls });
    await client.close();
  } catch (error) {
    expect(error).toMatchObject({ code: "CONNECTION" });
  } finally {
    await peer.close();
  }
  return peer.heard.map((bytes) => decodeFrame(bytes).command.kind);
}

describe("with TLS", () => {
  test("a broker with a trusted certificate and the right name gets the credentials", async () => {
    expect(await heardBy(LOCALHOST, { ca: AUTHORITY })).toEqual(["connect"]);
  });

  test.each([
    ["for another name", ELSEWHERE, { ca: AUTHORITY }],
    ["that has expired", EXPIRED, { ca: AUTHORITY }],
    ["of a stranger", UNKNOWN, { ca: AUTHORITY }],
    ["that only our own authority vouches for, which was not given", LOCALHOST, {}],
  ])("not a byte goes to a broker with a certificate %s", async (_, certificate, tls) => {
    expect(await heardBy(certificate, tls)).toEqual([]);
  });

  test("an untrusted certificate and a missing TLS have different errors", async () => {
    const peer = await serve(LOCALHOST);
    const url = `localhost:${peer.port}`;
    await expect(connect(`pulsar+ssl://${url}`)).rejects.toThrow("set tls.ca");
    await expect(connect(`pulsar://${url}`)).rejects.toThrow("pulsar+ssl://");
    await peer.close();
  });

  test("dangerouslyAllowAnyCertificate accepts any certificate", async () => {
    const tls = { dangerouslyAllowAnyCertificate: true };
    expect(await heardBy(UNKNOWN, tls)).toEqual(["connect"]);
  });

  test("a broker can require a client certificate", async () => {
    const peer = await serve(LOCALHOST, { requestCert: true, ca: AUTHORITY });
    const url = `pulsar+ssl://localhost:${peer.port}`;
    await expect(connect(url, { tls: { ca: AUTHORITY } })).rejects.toMatchObject({
      code: "CONNECTION",
    });
    const client = await connect(url, { tls: { ca: AUTHORITY, ...CLIENT } });
    await client.close();
    await peer.close();
  });
});

test("opening a socket can be aborted", async () => {
  const dial = createSocketDial();
  const endpoint = { host: "127.0.0.1", port: 1, isTls: false };
  await expect(dial(endpoint, AbortSignal.abort("no"))).rejects.toBe("no");
  const aborting = new AbortController();
  const opening = dial(endpoint, aborting.signal);
  aborting.abort("no");
  await expect(opening).rejects.toBe("no");
});

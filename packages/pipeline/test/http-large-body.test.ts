import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { fetch } from "undici";
import { afterEach, expect, test } from "vitest";
import { httpSource } from "../src/connector/http/source/http-source.ts";
import type { HttpSourceOptions } from "../src/connector/http/source/source-options.ts";
import { connectorScene } from "./connector-scene.ts";

const MIB = 1_048_576;
const BODY_MAX = 1_000;

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

/** The address of a source that takes bodies of up to 1000 bytes. */
async function address(options: Partial<HttpSourceOptions> = {}): Promise<URL> {
  const { context, told } = connectorScene("orders/in");
  const connector = httpSource({ listen: "127.0.0.1:0", maxBodyBytes: BODY_MAX, ...options });
  opened.push(await connector.open(context));
  const [, url = ""] = /at (\S+)$/.exec(told[0]?.text ?? "") ?? [];
  return new URL(url);
}

/** Posts a body with the client of Node, which writes it as fast as the server takes it. */
async function post(
  url: URL,
  body: Buffer,
  headers: Readonly<Record<string, string | number>>,
): Promise<IncomingMessage> {
  const posted = request(url, { method: "POST", headers });
  const answered = once(posted, "response") as Promise<[IncomingMessage]>;
  // An error after the answer, such as that of the closed connection, is of no concern.
  posted.on("error", () => undefined);
  posted.end(body);
  const [response] = await answered;
  return response;
}

test.each([
  ["with its length", { "content-length": 8 * MIB }],
  ["in chunks", { "transfer-encoding": "chunked" }],
])("Node's client that sends 8 MiB %s reads the answer 413", async (_, headers) => {
  const response = await post(await address(), Buffer.alloc(8 * MIB, "1"), headers);
  expect(response.statusCode).toBe(413);
  expect(JSON.parse(await text(response))).toMatchObject({ title: "Too large" });
});

test("undici's fetch that streams 8 MiB reads the answer 413", async () => {
  let left = 8;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (left-- > 0) controller.enqueue(Buffer.alloc(MIB, "1"));
      else controller.close();
    },
  });
  const response = await fetch(await address(), { method: "POST", body, duplex: "half" });
  expect([response.status, await response.json()]).toMatchObject([413, { title: "Too large" }]);
});

test("a client that reads nothing before all of its body is sent reads the answer 413", async () => {
  const { port, pathname } = await address();
  const socket = connect(Number(port), "127.0.0.1").pause();
  await once(socket, "connect");
  socket.on("error", () => undefined);
  socket.write(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: ${8 * MIB}\r\n\r\n`);
  const written = new Promise((resolve) => socket.write(Buffer.alloc(8 * MIB, "1"), resolve));
  expect(await written).toBeFalsy();
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 /);
});

test.each([
  ["413", {}],
  ["401", { token: "0123456789abcdef" }],
])("a body without an end after the answer %s ends with its connection", async (_, options) => {
  const { port, pathname } = await address(options);
  const socket = connect(Number(port), "127.0.0.1").resume();
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: ${1024 * MIB}\r\n\r\n`);
  const piece = Buffer.alloc(MIB, "1");
  const send = (): void => {
    if (socket.bytesWritten >= 64 * MIB) socket.destroy();
    else if (socket.writable) socket.write(piece, send);
  };
  send();
  await closed;
  expect(socket.bytesWritten).toBeLessThan(64 * MIB);
});

test("a refused body that ends soon leaves its connection to the next request", async () => {
  const { port, pathname } = await address();
  const socket = connect(Number(port), "127.0.0.1");
  await once(socket, "connect");
  const refused = "POST /elsewhere HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n";
  socket.write(`${refused}${"1".repeat(500)}`);
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  expect((await text(socket)).match(/^HTTP\/1\.1 \d+/gm)).toEqual(["HTTP/1.1 404", "HTTP/1.1 200"]);
});

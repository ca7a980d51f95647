/** What the gate makes of the errors of `@grpc/grpc-js`, against a real server. */
import { Client, credentials, Metadata, Server, ServerCredentials, status } from "@grpc/grpc-js";
import type { sendUnaryData, ServerUnaryCall, ServiceError } from "@grpc/grpc-js";
import { systemWallClock } from "@sluice/core/system";
import { classifyGrpcError } from "@sluice/egress";
import { expect, test } from "vitest";
import { verdictOfError } from "../src/outcome/default-verdict.ts";

const PATH = "/test.Ledger/Post";

type Post = (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => void;

const bytes = (value: Buffer): Buffer => value;

async function startServer(post: Post): Promise<{ server: Server; address: string }> {
  const server = new Server();
  server.register(PATH, post, bytes, bytes, "unary");
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { server, address: `127.0.0.1:${port}` };
}

async function errorOf(address: string, deadlineMs?: number): Promise<unknown> {
  const client = new Client(address, credentials.createInsecure(), { "grpc.enable_retries": 0 });
  const options = deadlineMs === undefined ? {} : { deadline: systemWallClock.now() + deadlineMs };
  const error = await new Promise<ServiceError | null>((resolve) => {
    client.makeUnaryRequest(
      PATH,
      bytes,
      bytes,
      Buffer.from("hello"),
      new Metadata(),
      options,
      resolve,
    );
  });
  client.close();
  return error;
}

async function verdictOn(post: Post, deadlineMs?: number) {
  const { server, address } = await startServer(post);
  const error = await errorOf(address, deadlineMs);
  server.forceShutdown();
  // The default verdict of a gate knows it as well.
  const verdict = classifyGrpcError(error);
  expect(verdictOfError(error, { now: () => 0 })).toEqual(verdict);
  return verdict;
}

test.each([
  [
    status.RESOURCE_EXHAUSTED,
    undefined,
    { outcome: "busy", retriable: "safe", scope: "over-quota" },
  ],
  [
    status.RESOURCE_EXHAUSTED,
    "250",
    { outcome: "busy", retriable: "safe", scope: "over-quota", pauseMs: 250 },
  ],
  [status.RESOURCE_EXHAUSTED, "-1", { outcome: "busy", retriable: "never", scope: "over-quota" }],
  [
    status.UNAVAILABLE,
    undefined,
    { outcome: "busy", retriable: "if-idempotent", scope: "busy-here" },
  ],
  [status.INTERNAL, undefined, { outcome: "failed", retriable: "if-idempotent" }],
  [status.ALREADY_EXISTS, undefined, { outcome: "ignored", retriable: "never" }],
])("status %d with pushback %s", async (code, pushback, expected) => {
  const verdict = await verdictOn((_call, answer) => {
    const metadata = new Metadata();
    if (pushback !== undefined) metadata.set("grpc-retry-pushback-ms", pushback);
    answer({ code, details: "no", metadata });
  });
  expect(verdict).toEqual(expected);
});

test("a deadline that passes is the peer's failure", async () => {
  expect(await verdictOn(() => undefined, 50)).toEqual({
    outcome: "failed",
    retriable: "if-idempotent",
  });
});

test("an answer that is too large for the client is no matter of load", async () => {
  const huge = Buffer.alloc(5 * 1024 * 1024);
  expect(await verdictOn((_call, answer) => answer(null, huge))).toEqual({
    outcome: "ignored",
    retriable: "never",
  });
});

test("a peer that does not listen was not asked, so a retry is safe", async () => {
  const { server, address } = await startServer(() => undefined);
  server.forceShutdown();
  expect(classifyGrpcError(await errorOf(address))).toEqual({
    outcome: "failed",
    retriable: "safe",
  });
});

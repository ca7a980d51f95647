import { Metadata } from "@grpc/grpc-js";
import type { Client } from "@grpc/grpc-js";
import { createGate } from "@sluice/egress";

const gate = createGate({ name: "ledger", concurrency: "adaptive", retry: 3 });

const bytes = (value: Buffer): Buffer => value;

/** Make the client with `"grpc.enable_retries": 0`: the gate makes the retries. */
export function post(client: Client, entry: Buffer): Promise<Buffer | undefined> {
  const call = (signal: AbortSignal): Promise<Buffer | undefined> =>
    new Promise((resolve, reject) => {
      const running = client.makeUnaryRequest(
        "/shop.Ledger/Post",
        bytes,
        bytes,
        entry,
        new Metadata(),
        (error, answer) => (error === null ? resolve(answer) : reject(error)),
      );
      signal.addEventListener("abort", () => running.cancel(), { once: true });
    });
  return gate.run(call, { deadlineMs: 5_000 });
}

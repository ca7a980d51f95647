import { createGate } from "@sluice/egress";

const gate = createGate({
  name: "dynamodb",
  concurrency: "adaptive",
  retry: { attempts: 4, idempotent: true },
  attemptTimeoutMs: 5_000,
});

/** Any client of the AWS SDK v3. Make it with `maxAttempts: 1`: the gate makes the retries. */
interface Client<Command, Output> {
  send(command: Command, options: { abortSignal: AbortSignal }): Promise<Output>;
}

/** `await send(client, new GetItemCommand({ ... }))` */
export function send<Command, Output>(
  client: Client<Command, Output>,
  command: Command,
): Promise<Output> {
  return gate.run((abortSignal) => client.send(command, { abortSignal }), { deadlineMs: 20_000 });
}

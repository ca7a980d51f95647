import { requestIdOf } from "@sluice/pulsar/wire";
import type { UnknownCommand } from "@sluice/pulsar/wire";
import { notAllowed } from "../refusal/refusal.ts";
import { refuse } from "./request/reply.ts";
import type { SessionContext } from "./session-context.ts";

/** A command that Pulsar's protocol does not have, or that this broker does not serve. */
export function onUnknownCommand(
  { outbox, facts }: SessionContext,
  command: UnknownCommand,
  isThrottleAware: boolean,
): void {
  const throttle = isThrottleAware ? facts.throttle?.decode(command) : undefined;
  if (throttle?.kind === "throttleProducerReceipt") {
    outbox.add({ kind: "throttleReceipt", requestId: throttle.body.requestId });
    return;
  }
  const requestId = requestIdOf(command);
  const what = featureOf(command.type);
  if (throttle !== undefined) outbox.close("throttleProducer is a command that only brokers send");
  else if (requestId === undefined) outbox.close(`${what} are not supported`);
  else refuse(outbox, requestId, notAllowed(`${what} are not supported by this broker`));
}

/** What a command of a type that this broker does not know belongs to, by Pulsar's own numbers. */
function featureOf(type: number): string {
  if (type >= 50 && type <= 63) return "transactions";
  if (type >= 64 && type <= 67) return "topic list watchers";
  return `commands of type ${type}`;
}

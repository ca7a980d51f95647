import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ScriptedBroker } from "./scripted-broker.ts";
import { connectTo } from "./virtual-client.ts";

/** What the peer does with a SEND. */
const FATES = ["store", "store-late", "store-and-cut", "cut", "send-away"] as const;

type Fate = (typeof FATES)[number];

test("under random connection losses messages arrive in order, and every confirmed one is stored", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom<Fate>(...FATES), { maxLength: 40 }),
      fc.integer({ min: 1, max: 60 }),
      fc.boolean(),
      async (fates, count, isBatching) => {
        const broker = brokerWith(fates);
        const { client, timer } = await connectTo(broker, { operationTimeoutMs: 600_000 });
        const batching = isBatching ? { messagesMax: 4, delayMaxMs: 5 } : false;
        const producer = await client.createProducer({
          topic: "t",
          batching,
          sendTimeoutMs: 0,
          pendingMessagesMax: 16,
        });
        const resolved = sendAll(producer, count);
        await timer.advance(600_000);
        expect(resolved).toEqual(Array.from({ length: count }, (_, index) => index));
        const highest = broker.stored.reduce((last, { sequenceId, highestSequenceId }) => {
          // Again after a loss, but never ahead: a gap would be a message lost or overtaken.
          expect(sequenceId <= last + 1n).toBe(true);
          return highestSequenceId > last ? highestSequenceId : last;
        }, -1n);
        expect(highest).toBe(BigInt(count - 1));
        await close(client, timer);
      },
    ),
    { numRuns: 150 },
  );
});

/** Each fate is for one SEND; when they are used up, all are stored. */
function brokerWith(fates: readonly Fate[]): ScriptedBroker {
  const left = [...fates];
  const broker: ScriptedBroker = new ScriptedBroker({
    send: (command, session, entry) => {
      const { producerId } = command.body;
      // Of a producer that was sent away; it does not know yet.
      if (!session.producers.has(producerId)) return undefined;
      const fate = left.shift() ?? "store";
      if (fate === "send-away") {
        session.producers.delete(producerId);
        return { kind: "closeProducer", body: { producerId, requestId: 0n } };
      }
      if (fate === "cut") {
        session.cut();
        return undefined;
      }
      const receipt = broker.store(command, session, entry);
      if (fate === "store") return receipt;
      if (fate === "store-and-cut") session.cut();
      else {
        session.link.pause();
        void Promise.resolve()
          .then(() => session.tell(receipt))
          .then(() => session.link.resume());
      }
      return undefined;
    },
  });
  return broker;
}

/** The numbers of the messages in the order in which they were confirmed. */
function sendAll(
  producer: { send(message: { data: string }): Promise<unknown> },
  count: number,
): number[] {
  const resolved: number[] = [];
  for (let index = 0; index < count; index++)
    void producer.send({ data: `${index}` }).then(() => resolved.push(index));
  return resolved;
}

async function close(
  client: { close(): Promise<void> },
  timer: { advance(ms: number): Promise<void>; readonly sleeping: number },
): Promise<void> {
  const closing = client.close();
  await timer.advance(0);
  await closing;
  expect(timer.sleeping).toBe(0);
}

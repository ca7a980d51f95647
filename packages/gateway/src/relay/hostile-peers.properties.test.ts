/** Whatever a client and a broker send, in whatever order and with whatever ids. */
import fc from "fast-check";
import { NO_ID } from "@sluice/pulsar/wire";
import type { Command } from "@sluice/pulsar/wire";
import { expect, test } from "vitest";
import { bytesOf, RelayDriver } from "../../test/relay-driver.ts";
import { entryOf } from "../../test/session-driver.ts";
import { decodeBrokerFrame, decodeClientFrame } from "./relay-commands.ts";

const LIMITS = { producersMax: 3, consumersMax: 3, commandsPerSecond: 1e9 };

const id = fc.bigInt(0n, 4n);
const text = fc.constantFrom("t", "held", "", "pulsar://a:6650", "a:1", "x".repeat(400));
const url = fc.option(text, { nil: undefined });

const fromClient: fc.Arbitrary<Command> = fc.oneof(
  fc
    .record({ topic: text, producerId: id, requestId: id })
    .map((body) => ({ kind: "producer" as const, body })),
  fc
    .record({ producerId: id, requestId: id })
    .map((body) => ({ kind: "closeProducer" as const, body })),
  fc
    .record({ producerId: id, sequenceId: id, numMessages: fc.integer({ min: 1, max: 5 }) })
    .map((body) => ({ kind: "send" as const, body })),
  fc
    .record({ topic: text, subscription: text, subType: fc.nat(4), consumerId: id, requestId: id })
    .map((body) => ({ kind: "subscribe" as const, body })),
  fc
    .record({ consumerId: id, requestId: id })
    .map((body) => ({ kind: "closeConsumer" as const, body })),
  fc
    .record({ consumerId: id, requestId: id })
    .map((body) => ({ kind: "unsubscribe" as const, body })),
  fc.record({ topic: text, requestId: id }).map((body) => ({ kind: "lookup" as const, body })),
  fc.constant({ kind: "ping" as const, body: {} }),
  fc.constant({ kind: "authResponse" as const, body: {} }),
);

const fromBroker: fc.Arbitrary<Command> = fc.oneof(
  fc
    .record({ requestId: id, producerName: text, producerReady: fc.boolean() })
    .map((body) => ({ kind: "producerSuccess" as const, body })),
  fc.record({ requestId: id }).map((body) => ({ kind: "success" as const, body })),
  fc
    .record({ requestId: id, error: fc.nat(30), message: text })
    .map((body) => ({ kind: "error" as const, body })),
  fc
    .record({ producerId: id, sequenceId: id })
    .map((body) => ({ kind: "sendReceipt" as const, body })),
  fc
    .record({ producerId: id, sequenceId: id, error: fc.nat(30), message: text })
    .map((body) => ({ kind: "sendError" as const, body })),
  id.map((producerId) => ({
    kind: "closeProducer" as const,
    body: { producerId, requestId: NO_ID },
  })),
  id.map((consumerId) => ({
    kind: "closeConsumer" as const,
    body: { consumerId, requestId: NO_ID },
  })),
  fc
    .record({
      requestId: id,
      response: fc.nat(3),
      brokerServiceUrl: url,
      brokerServiceUrlTls: url,
      proxyThroughServiceUrl: fc.boolean(),
    })
    .map((body) => ({ kind: "lookupResponse" as const, body })),
  fc
    .record({ resourceId: id, resourceType: fc.nat(2), brokerServiceUrl: url })
    .map((body) => ({ kind: "topicMigrated" as const, body })),
);

const step = fc.oneof(
  { weight: 5, arbitrary: fromClient.map((command) => ({ from: "client" as const, command })) },
  { weight: 5, arbitrary: fromBroker.map((command) => ({ from: "broker" as const, command })) },
  { weight: 1, arbitrary: fc.constant({ from: "desk" as const }) },
);

test("no SEND reaches the broker unless it was admitted, and every table stays within its bound", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: "max" }), (steps) => {
      const driver = RelayDriver.connected({ limits: LIMITS });
      driver.admission.heldTopics.add("held");
      let admitted = 0;
      let passed = 0;
      const admit = driver.admission.admit.bind(driver.admission);
      driver.admission.admit = (producer, frame, messages) => {
        const isAdmitted = admit(producer, frame, messages);
        if (isAdmitted) admitted++;
        return isAdmitted;
      };
      for (const one of steps) {
        if (driver.closeReason !== undefined) break;
        if (one.from === "desk") {
          if (driver.admission.held.length > 0) admitted++;
          driver.release();
        } else if (one.from === "broker") {
          const frame = decodeBrokerFrame(bytesOf(one.command));
          driver.on({ kind: "upstreamFrame", frame });
        } else if (driver.relay.isReading) {
          const entry = one.command.kind === "send" ? entryOf("x") : undefined;
          driver.on({ kind: "frame", frame: decodeClientFrame(bytesOf(one.command, entry)) });
        }
        passed += driver.passed().filter(({ kind }) => kind === "send").length;
        const { producers, consumers, pendingSends } = driver.relay;
        expect(passed).toBeLessThanOrEqual(admitted);
        expect(producers).toBeLessThanOrEqual(LIMITS.producersMax);
        expect(consumers).toBeLessThanOrEqual(LIMITS.consumersMax);
        expect(pendingSends).toBeGreaterThanOrEqual(0);
        expect(pendingSends).toBeLessThanOrEqual(passed);
      }
      driver.on({ kind: "end" });
      expect(driver.admission.held).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

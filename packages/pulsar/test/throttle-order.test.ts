import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { connect } from "../src/client/api/connect.ts";
import type { Dial } from "../src/client/connection/transport.ts";
import { decodeFrame } from "../src/wire/frame.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import type { PeerSession } from "./scripted-broker.ts";
import { throttle } from "./throttling-broker.ts";

/** Reasons on the wire for which pause 0 is only information. */
const CONNECTION_REASONS = [2, 3];

/** Longer than any backoff after the few losses of one run. */
const REATTACHED_AFTER_MS = 60_000;

type Step =
  | { readonly kind: "send"; readonly messages: number }
  | { readonly kind: "throttle"; readonly reason: number; readonly pauseMs: number }
  | { readonly kind: "wait"; readonly ms: number }
  /** The peer stops or starts to read: no receipts, and soon the connection is not writable. */
  | { readonly kind: "stall" }
  | { readonly kind: "read" }
  | { readonly kind: "cut" | "send-away" };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("send"), messages: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("throttle"),
      reason: fc.integer({ min: 0, max: 6 }),
      pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 })),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("wait"), ms: fc.integer({ min: 0, max: 2_000 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("stall", "read", "cut", "send-away") }),
  },
);

/** A client and its peer, and the peer's own view of the pause that it asked for. */
class Run {
  readonly timer = new VirtualTimer();
  readonly broker: ScriptedBroker;
  /** The instant from which the client may write. */
  pausedUntilMs = 0;
  #isReading = true;

  constructor() {
    this.broker = new ScriptedBroker(
      {
        send: (command, session, entry) =>
          session.producers.has(command.body.producerId)
            ? this.broker.store(command, session, entry)
            : undefined,
      },
      { unreadBytesMax: 400 },
    );
  }

  /** The broker's dial, with a check of each SEND at the instant at which it is written. */
  readonly dial: Dial = async (endpoint, signal) => {
    const transport = await this.broker.dial(endpoint, signal);
    const write = transport.write.bind(transport);
    transport.write = (bytes) => {
      const isSend = decodeFrame(Buffer.from(bytes)).command.kind === "send";
      if (isSend) expect(this.timer.now()).toBeGreaterThanOrEqual(this.pausedUntilMs);
      return write(bytes);
    };
    this.#isReading = true;
    return transport;
  };

  /** The connection that the producer is attached to. */
  get session(): PeerSession | undefined {
    return this.broker.open.find(({ producers }) => producers.size > 0);
  }

  /** Whether everything must have been sent by now. */
  get isFree(): boolean {
    return this.session !== undefined && this.#isReading && this.timer.now() >= this.pausedUntilMs;
  }

  async take(step: Exclude<Step, { kind: "send" }>): Promise<void> {
    const { session } = this;
    if (step.kind === "wait") await this.timer.advance(step.ms);
    else if (step.kind === "read") this.#read();
    else if (session !== undefined) this.#do(step, session);
    await this.timer.advance(0);
  }

  #read(): void {
    this.#isReading = true;
    for (const { link } of this.broker.open) link.resume();
  }

  #do(step: Exclude<Step, { kind: "send" | "wait" | "read" }>, session: PeerSession): void {
    const [producerId = 0n] = session.producers.keys();
    switch (step.kind) {
      case "throttle": {
        const { reason, pauseMs } = step;
        throttle(session, { producerId, reason, pauseMs });
        if (pauseMs > 0 || !CONNECTION_REASONS.includes(reason))
          this.pausedUntilMs = this.timer.now() + pauseMs;
        return;
      }
      case "stall":
        this.#isReading = false;
        session.link.pause();
        return;
      case "cut":
        session.cut();
        break;
      case "send-away":
        session.producers.clear();
        session.tell({ kind: "closeProducer", body: { producerId, requestId: 0n } });
        break;
    }
    this.pausedUntilMs = 0;
  }
}

test("for any throttling, losses and stalls: order is kept, nothing is written in a pause, nothing is lost, nothing waits longer than it must", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(STEP, { minLength: 1, maxLength: 30 }),
      fc.boolean(),
      async (steps, isBatching) => {
        const run = new Run();
        const { timer, broker, dial } = run;
        const wallClock = { now: () => 1_700_000_000_000 + timer.now() };
        const client = await connect("pulsar://broker:6650", {
          dependencies: { timer, wallClock, random: new SeededRandom(1), dial },
          operationTimeoutMs: 600_000,
          keepAliveMs: 600_000,
        });
        const producer = await client.createProducer({
          topic: "t",
          batching: isBatching ? { messagesMax: 4, delayMaxMs: 5 } : false,
          sendTimeoutMs: 0,
          pendingMessagesMax: 8,
        });
        const resolved: number[] = [];
        let sent = 0;
        for (const step of steps) {
          if (step.kind === "send")
            for (let count = 0; count < step.messages; count++) {
              const index = sent++;
              void producer.send({ data: `${index}` }).then(() => resolved.push(index));
            }
          else await run.take(step);
          await timer.advance(0);
          expect(producer.isThrottled).toBe(timer.now() < run.pausedUntilMs);
          // A batch may still be collecting. Without batching, all is stored as soon as it may be.
          if (run.isFree && !isBatching) expect(resolved).toHaveLength(sent);
        }
        await run.take({ kind: "read" });
        if (run.session === undefined) await timer.advance(REATTACHED_AFTER_MS);
        // The batches of waiters begin only when there is room, so they may add up to 5 ms per batch.
        await timer.advance(Math.max(0, run.pausedUntilMs - timer.now()) + (isBatching ? 200 : 0));
        expect(resolved).toEqual(Array.from({ length: sent }, (_, index) => index));
        const highest = broker.stored.reduce((last, { sequenceId, highestSequenceId }) => {
          // Again after a loss, but never ahead: a gap would be a message lost or overtaken.
          expect(sequenceId <= last + 1n).toBe(true);
          return highestSequenceId > last ? highestSequenceId : last;
        }, -1n);
        expect(highest).toBe(BigInt(sent - 1));
        const closing = client.close();
        await timer.advance(0);
        await closing;
        expect(timer.sleeping).toBe(0);
      },
    ),
    { numRuns: 150 },
  );
});

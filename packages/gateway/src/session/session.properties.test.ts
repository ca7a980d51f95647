/** Whatever a client and a broker do, in whatever order, a session keeps its promises. */
import fc from "fast-check";
import { decodeFrame, ProtocolError } from "@sluice/pulsar/wire";
import type { Command, CommandBodies } from "@sluice/pulsar/wire";
import { expect, test } from "vitest";
import { entryOf, frameOf, SessionDriver } from "../../test/session-driver.ts";
import type { Effect } from "./effect.ts";
import type { Answer, Question } from "./request/question.ts";
import type { SessionEvent } from "./session-event.ts";

const LIMITS = {
  producersMax: 3,
  consumersMax: 3,
  requestsMax: 4,
  commandsPerSecond: 60,
  unknownIdsMax: 30,
  outboundHighBytes: 100,
  outboundLowBytes: 50,
  outboundMoreBytesMax: 1_000,
};

const AT = { ledgerId: 1n, entryId: 1n };
const REFUSAL = { error: "UnknownError", message: "no" } as const;

/** Requests of a client, by the id of the request and of the producer or consumer. */
const REQUESTS: readonly ((requestId: bigint, of: bigint) => Command)[] = [
  (requestId, producerId) => ({ kind: "producer", body: { topic: "t", producerId, requestId } }),
  (requestId, producerId) => ({ kind: "closeProducer", body: { producerId, requestId } }),
  (requestId, consumerId) => ({
    kind: "subscribe",
    body: { topic: "t", subscription: "s", subType: Number(requestId % 4n), consumerId, requestId },
  }),
  (requestId, consumerId) => ({ kind: "closeConsumer", body: { consumerId, requestId } }),
  (requestId, consumerId) => ({ kind: "unsubscribe", body: { consumerId, requestId } }),
  (requestId, consumerId) => ({ kind: "seek", body: { consumerId, requestId, messageId: AT } }),
  (requestId, consumerId) => ({ kind: "getLastMessageId", body: { consumerId, requestId } }),
  (requestId, consumerId) => ({ kind: "consumerStats", body: { consumerId, requestId } }),
  (requestId, consumerId) => ({
    kind: "ack",
    body: { consumerId, requestId, ackType: Number(requestId % 2n), messageIds: [AT] },
  }),
  (requestId) => ({ kind: "lookup", body: { topic: "t", requestId } }),
  (requestId) => ({ kind: "partitionedMetadata", body: { topic: "t", requestId } }),
  (requestId) => ({ kind: "getTopicsOfNamespace", body: { namespace: "a/b", requestId } }),
  (requestId) => ({ kind: "getSchema", body: { topic: "t", requestId } }),
];

/** A client and a broker around a session, and what both have seen of it. */
class World {
  readonly driver = SessionDriver.connected({ limits: LIMITS });
  readonly asked = new Set<bigint>();
  readonly answered: bigint[] = [];
  readonly receipts = new Map<bigint, bigint[]>();
  isPaused = false;
  readonly #producerIds = new Set<bigint>();
  #lastId = 0n;

  get isOpen(): boolean {
    return this.driver.closeReason === undefined;
  }

  request(index: number, of: bigint): void {
    const command = REQUESTS[index]?.(++this.#lastId, of);
    if (command === undefined || !this.driver.session.isReading) return;
    this.asked.add(this.#lastId);
    if (command.kind === "producer") this.#producerIds.add(of);
    this.driver.receiveFrame(frameOf(command));
  }

  /** Only of producers that are or were there: another would end the connection. */
  send(producerId: bigint, isGood: boolean): void {
    if (!this.driver.session.isReading || !this.#producerIds.has(producerId)) return;
    const sequenceId = ++this.#lastId;
    const body = { producerId, sequenceId, numMessages: isGood ? 1 : 2 };
    this.driver.receiveFrame(frameOf({ kind: "send", body }, entryOf("x")));
  }

  /** Something that the session wanted is done, or has failed. */
  result(which: number, isGood: boolean): void {
    const { wanted } = this.driver;
    const effect = wanted[which % wanted.length];
    if (effect === undefined) return;
    wanted.splice(wanted.indexOf(effect), 1);
    const event = resultOf(effect, isGood);
    if (event !== undefined) this.driver.on(event);
  }

  written(unreadBytes: number): void {
    this.driver.on({ kind: "written", answerBytes: 10, unreadBytes });
    this.driver.on({ kind: "taken", unreadBytes });
  }

  /** The client answers pings, so that it is not taken for dead. */
  pass(ms: number): void {
    this.driver.tick(this.driver.nowMs + ms);
    if (this.driver.session.isReading) this.driver.receive("pong", {});
  }

  finish(): void {
    for (let round = 0; round < 1_000 && this.driver.wanted.length > 0; round++)
      this.result(0, true);
    this.observe();
  }

  observe(): void {
    const { wanted } = this.driver;
    for (const { kind } of wanted) if (kind === "readingChanged") this.isPaused = !this.isPaused;
    const others = wanted.filter(({ kind }) => kind !== "readingChanged");
    wanted.splice(0, wanted.length, ...others);
    for (const command of this.driver.sent()) this.#note(command);
  }

  #note(command: Command): void {
    if (command.kind === "sendReceipt" || command.kind === "sendError") {
      const { producerId, sequenceId } = command.body;
      this.receipts.set(producerId, [...(this.receipts.get(producerId) ?? []), sequenceId]);
    } else if (command.kind !== "unknown" && "requestId" in command.body) {
      const { requestId } = command.body;
      if (requestId !== undefined && this.asked.has(requestId)) this.answered.push(requestId);
    }
  }
}

function resultOf(effect: Effect, isGood: boolean): SessionEvent | undefined {
  const refusal = REFUSAL;
  switch (effect.kind) {
    case "openProducer": {
      const { producer } = effect;
      const none = { topicEpoch: undefined, lastSequenceId: -1n, schemaVersion: undefined };
      const opened = { name: "p", isReady: true, ...none };
      return isGood
        ? { kind: "producerOpened", producer, ...opened }
        : { kind: "producerFailed", producer, refusal };
    }
    case "publish": {
      const { producer, sequence } = effect;
      return isGood
        ? { kind: "published", producer, sequence, messageId: AT }
        : { kind: "publishFailed", producer, sequence, refusal };
    }
    case "subscribe": {
      const { consumer } = effect;
      return isGood
        ? { kind: "subscribed", consumer, isActive: undefined }
        : { kind: "subscribeFailed", consumer, refusal };
    }
    case "ack": {
      const { consumerId, requestId } = effect;
      const failure = isGood ? undefined : refusal;
      return { kind: "acknowledged", consumerId, requestId, refusal: failure };
    }
    case "ask": {
      const { question } = effect;
      return isGood
        ? { kind: "answered", question, answer: answerTo(question) }
        : { kind: "refused", question, refusal };
    }
    case "flow":
    case "redeliver":
      // The broker may close a consumer at any time.
      return isGood ? undefined : { kind: "consumerClosed", consumer: effect.consumer };
    case "send":
    case "close":
    case "readingChanged":
    case "pauseDelivery":
    case "resumeDelivery":
    case "setFrameBytesMax":
    case "authenticate":
    case "refused":
    case "closeProducer":
    case "dropHeld":
    case "throttleAware":
    case "throttleReceipt":
    case "closeConsumer":
      return undefined;
  }
}

function answerTo({ about }: Question): Answer {
  const schema = { name: "s", schemaData: Buffer.alloc(0), type: 1 };
  switch (about) {
    case "partitions":
      return { about, count: 0 };
    case "topics":
      return { about, names: [] };
    case "lastMessageId":
      return { about, last: AT, markDelete: AT };
    case "seek":
    case "unsubscribe":
      return { about };
    case "consumerStats":
      return { about, stats: { consumerName: "c" } };
    case "schema":
      return { about, schema, version: Buffer.alloc(8) };
    case "newSchema":
      return { about, version: Buffer.alloc(8) };
  }
}

/** One more than may be open at once. */
const of = fc.bigInt({ min: 0n, max: 3n });
/** Most of them open something, so that the others have something to do. */
const request = fc.constantFrom(0, 0, 0, 2, 2, ...REQUESTS.keys());
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.tuple(fc.constant("request" as const), request, of) },
    { weight: 12, arbitrary: fc.tuple(fc.constant("send" as const), of, fc.boolean()) },
    { weight: 9, arbitrary: fc.tuple(fc.constant("result" as const), fc.nat(20), fc.boolean()) },
    { weight: 2, arbitrary: fc.tuple(fc.constant("flow" as const), of) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constant("written" as const), fc.constantFrom(0, 0, 0, 200)),
    },
    { weight: 1, arbitrary: fc.tuple(fc.constant("pass" as const), fc.nat(1_500)) },
  ),
  { maxLength: 200, size: "max" },
);

type Step = typeof steps extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

function take(world: World, step: Step): void {
  const { driver } = world;
  if (step[0] === "request") world.request(step[1], step[2]);
  else if (step[0] === "send") world.send(step[1], step[2]);
  else if (step[0] === "result") world.result(step[1], step[2]);
  else if (step[0] === "written") world.written(step[1]);
  else if (step[0] === "pass") world.pass(step[1]);
  else if (driver.session.isReading) {
    const flow: CommandBodies["flow"] = { consumerId: step[1], messagePermits: 10 };
    driver.receive("flow", flow);
  }
  world.observe();
}

test("bounds hold at every step, and reading is paused exactly while it was said to be", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const world = new World();
      for (const step of all) {
        take(world, step);
        const { session } = world.driver;
        expect(session.producers).toBeLessThanOrEqual(LIMITS.producersMax);
        expect(session.consumers).toBeLessThanOrEqual(LIMITS.consumersMax);
        expect(questionsOf(world)).toBeLessThanOrEqual(LIMITS.requestsMax);
        if (world.isOpen) expect(session.isReading).toBe(!world.isPaused);
      }
    }),
  );
});

test("each request is answered once, unless the connection ends", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const world = new World();
      for (const step of all) take(world, step);
      world.finish();
      expect(new Set(world.answered).size).toBe(world.answered.length);
      if (world.isOpen) expect(new Set(world.answered)).toEqual(world.asked);
    }),
    { numRuns: 400 },
  );
});

test("the answers to a producer's SENDs are in their order, whatever becomes of them", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const world = new World();
      for (const step of all) take(world, step);
      world.finish();
      for (const ids of world.receipts.values())
        expect(ids).toEqual(ids.toSorted((one, other) => Number(one - other)));
    }),
  );
});

test("once it has ended nothing is sent, and every producer and consumer that opened is closed", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const world = new World();
      for (const step of all) take(world, step);
      world.driver.on({ kind: "end" });
      world.finish();
      const { session } = world.driver;
      expect([session.producers, session.consumers]).toEqual([0, 0]);
      world.driver.receive("ping", {});
      expect(world.driver.sent()).toEqual([]);
    }),
  );
});

test("the same events give the same effects, so that a session can be replayed", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const world = new World();
      const log: { readonly event: SessionEvent; readonly nowMs: number }[] = [];
      const effects: (readonly Effect[])[] = [];
      const { session } = world.driver;
      const on = session.on.bind(session);
      session.on = (event, nowMs) => {
        log.push({ event, nowMs });
        const wanted = on(event, nowMs);
        effects.push(wanted);
        return wanted;
      };
      for (const step of all) take(world, step);
      const replayed = SessionDriver.connected({ limits: LIMITS }).session;
      expect(log.map(({ event, nowMs }) => replayed.on(event, nowMs))).toEqual(effects);
    }),
    { numRuns: 50 },
  );
});

test("what a session waits for is never later than it says", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const world = new World();
      for (const step of all) {
        take(world, step);
        const { driver } = world;
        if (!world.isOpen || driver.session.dueAtMs <= driver.nowMs) continue;
        // Before that instant a tick has no effect.
        driver.nowMs = Math.max(driver.nowMs, driver.session.dueAtMs - 1);
        expect(driver.session.on({ kind: "tick" }, driver.nowMs)).toEqual([]);
      }
    }),
    { numRuns: 50 },
  );
});

/** A frame of each kind, in which some bytes are then changed. */
const FRAMES: readonly Buffer[] = [
  ...REQUESTS.map((commandOf) => frameOf(commandOf(1n, 1n)).bytes),
  frameOf({ kind: "send", body: { producerId: 1n, sequenceId: 1n } }, entryOf("x")).bytes,
  frameOf({ kind: "flow", body: { consumerId: 1n, messagePermits: 1 } }).bytes,
  frameOf({ kind: "connect", body: { clientVersion: "x", authData: Buffer.from("y") } }).bytes,
  frameOf({ kind: "redeliverUnacknowledged", body: { consumerId: 1n, messageIds: [AT] } }).bytes,
];

const damaged = fc
  .tuple(fc.constantFrom(...FRAMES), fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 4 }))
  .map(([bytes, changes]) => {
    const copy = Buffer.from(bytes);
    // The length before the frame stays: what is of another length never becomes a frame.
    for (const [at, value] of changes) copy[4 + (at % (copy.length - 4))] = value;
    return copy;
  });

test("damaged frames are no commands, or commands that harm nobody", () => {
  fc.assert(
    fc.property(fc.array(damaged, { minLength: 20, maxLength: 60 }), (frames) => {
      const driver = SessionDriver.connected();
      driver.openProducer(1n);
      driver.subscribe(1n);
      for (const bytes of frames) {
        try {
          driver.receiveFrame(decodeFrame(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }
    }),
  );
});

function questionsOf({ driver }: World): number {
  return driver.wanted.filter(({ kind }) => kind === "ask").length;
}

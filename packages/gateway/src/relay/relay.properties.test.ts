/** Whatever a client, a broker and the limits do, in whatever order, a relay keeps its promises. */
import fc from "fast-check";
import type { Command, CommandBodies } from "@sluice/pulsar/wire";
import { NO_ID } from "@sluice/pulsar/wire";
import { expect, test } from "vitest";
import { RelayDriver } from "../../test/relay-driver.ts";
import { entryOf } from "../../test/session-driver.ts";

const PRODUCER_KINDS: ReadonlySet<string> = new Set(["producer", "send", "closeProducer"]);
const UNKNOWN = { kind: "unknown", type: 90 } as const;

/** A client, a relay and a broker, each of which is behind the one before it. */
class World {
  readonly driver = RelayDriver.connected();
  /** By producer id: its PRODUCER, SEND and CLOSE_PRODUCER, as the client sent them. */
  readonly fromClient = new Map<bigint, string[]>();
  readonly atBroker = new Map<bigint, string[]>();
  /** Sequence ids that the broker has answered, and that the client got. */
  readonly answered: bigint[] = [];
  readonly receipts: bigint[] = [];
  /** SENDs that a broker-side close may have made void. */
  readonly lostMaybe = new Set<bigint>();
  readonly unknownFromBroker: number[] = [];
  hasEnded = false;
  readonly #clientProducers = new Set<bigint>();
  readonly #opening = new Map<bigint, bigint>();
  readonly #brokerProducers = new Set<bigint>();
  readonly #onItsWayUp: Command[] = [];
  readonly #onItsWayDown: (() => void)[] = [];
  #toClient: Command[] = [];
  #lastId = 0n;
  #passedSends = 0;
  #arrivedReceipts = 0;

  open(id: bigint): void {
    if (this.#clientProducers.has(id) || this.#isOpening(id)) return;
    const requestId = ++this.#lastId;
    this.#opening.set(requestId, id);
    this.#fromClient("producer", { topic: topicOf(id), producerId: id, requestId }, id);
  }

  send(id: bigint): void {
    if (!this.#clientProducers.has(id)) return;
    const sequenceId = ++this.#lastId;
    this.#fromClient("send", { producerId: id, sequenceId, numMessages: 1 }, id);
  }

  close(id: bigint): void {
    if (!this.#clientProducers.delete(id)) return;
    this.#fromClient("closeProducer", { producerId: id, requestId: ++this.#lastId }, id);
  }

  ping(): void {
    if (!this.hasEnded) this.driver.receive("ping", {});
  }

  hold(id: bigint): void {
    this.driver.admission.heldTopics.add(topicOf(id));
  }

  release(id: bigint): void {
    this.driver.admission.heldTopics.delete(topicOf(id));
    this.driver.release();
    this.#collect();
  }

  /** The broker handles the next command. */
  brokerWorks(isGood: boolean): void {
    const command = this.#onItsWayUp.shift();
    if (command === undefined) return;
    if (command.kind === "producer") this.#brokerOpens(command.body, isGood);
    else if (command.kind === "send") {
      const { producerId, sequenceId } = command.body;
      if (!this.#brokerProducers.has(producerId)) return;
      this.answered.push(sequenceId);
      const messageId = { ledgerId: 1n, entryId: sequenceId };
      this.#answer("sendReceipt", { producerId, sequenceId, messageId });
    } else if (command.kind === "closeProducer") {
      const { producerId, requestId } = command.body;
      if (this.#brokerProducers.delete(producerId)) this.#answer("success", { requestId });
      else this.#answer("error", { requestId, error: 0, message: "not registered" });
    }
  }

  brokerCloses(id: bigint): void {
    if (!this.#brokerProducers.delete(id)) return;
    // All that the client has sent for this id so far may be void now, and much that it will.
    for (const text of this.fromClient.get(id) ?? [])
      if (text.startsWith("send")) this.lostMaybe.add(BigInt(text.slice(5)));
    this.#answer("closeProducer", {
      producerId: id,
      requestId: NO_ID,
      assignedBrokerServiceUrl: "pulsar://other:6650",
    });
  }

  brokerSaysMore(): void {
    this.#onItsWayDown.push(() => this.driver.receiveUpstreamBytes(UNKNOWN_FRAME));
  }

  /** The next frame of the broker reaches the relay. */
  arrive(): void {
    if (this.hasEnded) return;
    this.#onItsWayDown.shift()?.();
    this.#collect();
  }

  clientReads(): void {
    const command = this.#toClient.shift();
    if (command === undefined || this.hasEnded) return;
    if (command.kind === "producerSuccess") {
      const id = this.#opening.get(command.body.requestId);
      if (id !== undefined) this.#clientProducers.add(id);
      this.#opening.delete(command.body.requestId);
    } else if (command.kind === "error") this.#opening.delete(command.body.requestId);
    else if (command.kind === "sendReceipt") this.receipts.push(command.body.sequenceId);
    else if (command.kind === "closeProducer") {
      const { producerId } = command.body;
      expect(command.body.assignedBrokerServiceUrl).toBeUndefined();
      this.#clientProducers.delete(producerId);
      for (const text of this.fromClient.get(producerId) ?? [])
        if (text.startsWith("send")) this.lostMaybe.add(BigInt(text.slice(5)));
    } else if (command.kind === "unknown") this.unknownFromBroker.push(command.type);
  }

  end(how: "client" | "upstream"): void {
    if (this.hasEnded) return;
    if (how === "upstream") this.driver.on({ kind: "upstreamClosed", reason: "gone" });
    this.driver.on({ kind: "end" });
    this.hasEnded = true;
    this.#collect();
  }

  /** Nothing is held any more, and everybody catches up. */
  settle(): void {
    this.driver.admission.heldTopics.clear();
    for (let step = 0; step < 10_000; step++) {
      if (
        this.driver.admission.held.length === 0 &&
        this.#onItsWayUp.length === 0 &&
        this.#onItsWayDown.length === 0 &&
        this.#toClient.length === 0
      )
        return;
      this.driver.release();
      this.#collect();
      this.brokerWorks(true);
      this.arrive();
      this.clientReads();
    }
    throw new Error("it never settles");
  }

  check(): void {
    for (const [id, passed] of this.atBroker)
      expect(isSubsequence(passed, this.fromClient.get(id) ?? [])).toBe(true);
    const got = new Set(this.receipts);
    for (const sequenceId of got) expect(this.answered).toContain(sequenceId);
    const { pendingSends } = this.driver.relay;
    expect(pendingSends).toBeGreaterThanOrEqual(0);
    expect(pendingSends).toBeLessThanOrEqual(this.#passedSends - this.#arrivedReceipts);
    if (!this.hasEnded) expect(this.driver.closeReason).toBeUndefined();
  }

  /** All SENDs that were not void have reached the broker. */
  checkSettled(): void {
    this.check();
    expect(this.driver.relay.pendingSends).toBe(0);
    for (const [id, sent] of this.fromClient) {
      const passed = new Set(this.atBroker.get(id));
      for (const text of sent)
        if (!passed.has(text))
          expect(text.startsWith("send") && this.lostMaybe.has(BigInt(text.slice(5)))).toBe(true);
    }
  }

  #brokerOpens({ producerId, requestId }: CommandBodies["producer"], isGood: boolean): void {
    if (!isGood && !this.#brokerProducers.has(producerId)) {
      this.#answer("error", { requestId, error: 0, message: "no" });
      return;
    }
    this.#brokerProducers.add(producerId);
    this.#answer("producerSuccess", { requestId, producerName: "p" });
  }

  #isOpening(id: bigint): boolean {
    return [...this.#opening.values()].includes(id);
  }

  #fromClient<Kind extends "producer" | "send" | "closeProducer">(
    kind: Kind,
    body: CommandBodies[Kind],
    id: bigint,
  ): void {
    if (this.hasEnded || !this.driver.relay.isReading) {
      // What was not read did not happen.
      if (kind === "producer") this.#opening.delete((body as { requestId: bigint }).requestId);
      if (kind === "closeProducer") this.#clientProducers.add(id);
      return;
    }
    push(this.fromClient, id, textOf({ kind, body } as Command));
    this.driver.receive(kind, body, kind === "send" ? entryOf("x") : undefined);
    this.#collect();
  }

  #answer<Kind extends "error" | "success" | "producerSuccess" | "sendReceipt" | "closeProducer">(
    kind: Kind,
    body: CommandBodies[Kind],
  ): void {
    this.#onItsWayDown.push(() => {
      if (kind === "sendReceipt") this.#arrivedReceipts++;
      this.driver.receiveUpstream(kind, body);
    });
  }

  #collect(): void {
    const passed = this.driver.passed();
    if (this.hasEnded) expect(passed).toEqual([]);
    for (const command of passed) {
      this.#onItsWayUp.push(command);
      if (command.kind === "send") this.#passedSends++;
      if (PRODUCER_KINDS.has(command.kind) && "body" in command)
        push(this.atBroker, (command.body as { producerId: bigint }).producerId, textOf(command));
    }
    this.#toClient.push(...this.driver.sent());
  }
}

function topicOf(id: bigint): string {
  return `topic-${id}`;
}

function textOf(command: Command): string {
  if (command.kind === "send") return `send ${command.body.sequenceId}`;
  if (command.kind === "producer" || command.kind === "closeProducer")
    return `${command.kind} ${command.body.requestId}`;
  return command.kind;
}

function push(map: Map<bigint, string[]>, id: bigint, text: string): void {
  map.set(id, [...(map.get(id) ?? []), text]);
}

function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const one of whole) if (one === part[at]) at++;
  return at === part.length;
}

/** A command of a type that nobody knows yet: type 90, with an empty body. */
const UNKNOWN_FRAME = Buffer.from([0, 0, 0, 9, 0, 0, 0, 5, 8, 90, 0xd2, 0x05, 0]);

const IDS: readonly bigint[] = [1n, 2n];

/** Both producers are open. */
function startedWorld(): World {
  const world = new World();
  for (const id of IDS) world.open(id);
  world.settle();
  return world;
}

const STEPS: readonly ((world: World, id: bigint, count: number) => void)[] = [
  (world, id) => world.open(id),
  (world, id, count) => times(count, () => world.send(id)),
  (world, id) => world.close(id),
  (world, id) => {
    world.close(id);
    world.open(id);
  },
  (world) => world.ping(),
  (world, id) => world.hold(id),
  (world, id, count) => times(count, () => world.release(id)),
  (world, _, count) => times(count, () => world.brokerWorks(true)),
  (world) => world.brokerWorks(false),
  (world, id) => world.brokerCloses(id),
  (world) => world.brokerSaysMore(),
  (world, _, count) => times(count, () => world.arrive()),
  (world, _, count) => times(count, () => world.clientReads()),
];

function times(count: number, work: () => void): void {
  for (let done = 0; done < count; done++) work();
}

const steps = fc.array(
  fc.tuple(fc.nat(STEPS.length - 1), fc.constantFrom(...IDS), fc.integer({ min: 1, max: 4 })),
  { maxLength: 60, size: "max" },
);

test("every SEND goes upstream in its order, between its PRODUCER and its CLOSE, and receipts are the broker's", () => {
  fc.assert(
    fc.property(steps, (chosen) => {
      const world = startedWorld();
      for (const [step, id, count] of chosen) {
        STEPS[step]?.(world, id, count);
        world.check();
      }
      world.settle();
      world.checkSettled();
      expect(world.unknownFromBroker.every((type) => type === UNKNOWN.type)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("nothing is forwarded for a client that has left, or whose broker has", () => {
  fc.assert(
    fc.property(steps, steps, fc.constantFrom("client", "upstream"), (before, after, how) => {
      const world = startedWorld();
      for (const [step, id, count] of before) STEPS[step]?.(world, id, count);
      world.end(how);
      expect(world.driver.admission.held).toEqual([]);
      for (const [step, id, count] of after) STEPS[step]?.(world, id, count);
      expect(world.driver.relay.pendingSends).toBe(0);
      expect(world.driver.relay.producers).toBe(0);
    }),
  );
});

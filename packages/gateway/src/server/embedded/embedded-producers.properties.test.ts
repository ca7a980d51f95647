/** Producers open, send, close and come again while their SENDs wait; the session, the desk and the backend together. */
import fc from "fast-check";
import { splitEntry } from "@sluice/pulsar/wire";
import type { Command } from "@sluice/pulsar/wire";
import { expect, test } from "vitest";
import { entryOf, frameOf } from "../../../test/session-driver.ts";
import { Ingress } from "../../ingress/ingress.ts";
import { CountedByteBudget } from "../../memory/counted-byte-budget.ts";
import { RefusalError } from "../../refusal/refusal-error.ts";
import type { Effect } from "../../session/effect.ts";
import { sessionLimits } from "../../session/limits.ts";
import type { ResultEvent, SessionEvent } from "../../session/session-event.ts";
import { Session } from "../../session/session.ts";
import type { Position } from "../../storage/position.ts";
import type { ProducerRequest, Publication } from "../../topic/producer/producer-handle.ts";
import type { Wire } from "../backend.ts";
import { ClientBytes } from "./client-bytes.ts";
import { EmbeddedProducers } from "./embedded-producers.ts";
import type { ProducerWorld } from "./embedded-world.ts";
import { keepPublish } from "./held-publish.ts";
import type { HeldPublish } from "./held-publish.ts";

/** A publication that the broker has taken and not stored yet. */
interface Taken {
  readonly text: string;
  readonly resolve: (position: Position) => void;
  readonly reject: (error: Error) => void;
}

/** One producer as the broker has it. */
class Handle {
  readonly name = "p";
  readonly isReady = true;
  readonly topicEpoch = undefined;
  readonly lastSequenceId = -1n;
  readonly request: ProducerRequest;
  readonly taken: Taken[] = [];
  /** All that was ever taken, in order. */
  readonly texts: string[] = [];
  isClosed = false;
  hasFailed = false;
  readonly #onWrong: (what: string) => void;

  constructor(request: ProducerRequest, onWrong: (what: string) => void) {
    this.request = request;
    this.#onWrong = onWrong;
  }

  publish({ parts }: Publication): Promise<Position | undefined> {
    const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
    const text = Buffer.from(splitEntry(bytes).payload).toString();
    if (this.isClosed) this.#onWrong(`${text} was published by a producer that is closed`);
    if (this.hasFailed) this.#onWrong(`${text} was published after one that was not stored`);
    this.texts.push(text);
    return new Promise((resolve, reject) => this.taken.push({ text, resolve, reject }));
  }

  close(): void {
    this.isClosed = true;
  }

  /** The oldest is stored, or for lack of room one is not, nor any after it. */
  store(isGood: boolean): void {
    const error = new RefusalError("ProducerBlockedQuotaExceededError", "full");
    if (isGood) this.taken.shift()?.resolve({ ledgerId: 1, entryId: 1 });
    else if (this.taken.length > 0) {
      this.hasFailed = true;
      // The oldest may still be on its way.
      const from = this.taken.length > 1 ? 1 : 0;
      for (const one of this.taken.splice(from)) one.reject(error);
    }
  }
}

class World {
  nowMs = 0;
  readonly memory = new CountedByteBudget(1e9, () => {});
  readonly handles: Handle[] = [];
  readonly wrong: string[] = [];
  readonly ingress = new Ingress<HeldPublish>(
    { topicDefault: { messages: 3 }, connection: { heldBytes: 6_000, pendingMessages: 4 } },
    { memory: this.memory, keep: keepPublish, onWakeAt: () => {}, nowMs: 0 },
  );
  readonly producerWorld: ProducerWorld = {
    broker: {
      openProducer: async (request) => {
        await Promise.resolve();
        const handle = new Handle(request, (what) => this.wrong.push(what));
        this.handles.push(handle);
        return handle;
      },
    },
    schemas: { put: () => Promise.reject(new Error("no schema")) },
    memory: this.memory,
    ingress: this.ingress,
    clock: { now: () => this.nowMs },
  };
  connection = new Peer(this);

  pass(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (; this.ingress.wakeAtMs <= untilMs;) {
      this.nowMs = Math.max(this.nowMs, this.ingress.wakeAtMs);
      while (this.ingress.release(this.nowMs, 4));
    }
    this.nowMs = untilMs;
  }
}

/** What a client knows of one producer that it opened. */
interface ClientProducer {
  /** Of the PRODUCER that made it: names its SENDs. */
  readonly requestId: bigint;
  state: "opening" | "open" | "closing" | "gone";
  sent: number;
  readonly receipts: bigint[];
  /** SENDs before CLOSE_PRODUCER. */
  closeAfter: number | undefined;
}

/** A client with its connection, session and producers. */
class Peer {
  readonly world: World;
  readonly session: Session;
  readonly producers: EmbeddedProducers;
  readonly clients = new Map<bigint, ClientProducer>();
  readonly all: ClientProducer[] = [];
  isEnded = false;
  /** What each handle had taken when its connection ended. */
  takenAtEnd = 0;
  #lastRequestId = 0n;
  readonly #closes = new Map<bigint, ClientProducer>();
  readonly #opens = new Map<bigint, { readonly id: bigint; readonly one: ClientProducer }>();

  constructor(world: World) {
    this.world = world;
    const facts = { limits: sessionLimits(), authMethods: [], permissions: undefined };
    const urls = { serviceUrl: undefined, serviceUrlTls: undefined, throttle: undefined };
    this.session = new Session({ ...facts, ...urls }, world.nowMs);
    const wire: Wire = {
      address: "peer",
      unreadBytes: 0,
      send: () => 0,
      forward: () => 0,
      close: () => this.end(),
      wake: () => {},
      setFrameBytesMax: () => {},
    };
    const report = (event: ResultEvent): void => this.on(event);
    const connection = {
      address: "peer",
      clientVersion: "",
      clientBytes: new ClientBytes(world.memory),
      report,
      reportClosed: report,
      onContested: () => {},
    };
    this.producers = new EmbeddedProducers(wire, world.producerWorld, connection, undefined);
    this.receive({ kind: "connect", body: { clientVersion: "test", protocolVersion: 21 } });
  }

  receive(command: Command, entry?: Buffer): void {
    this.on({ kind: "frame", frame: frameOf(command, entry) });
  }

  on(event: SessionEvent): void {
    for (const effect of this.session.on(event, this.world.nowMs)) this.#carryOut(effect);
  }

  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.producers.end(this.world.nowMs);
    this.on({ kind: "end" });
  }

  open(id: bigint): void {
    const known = this.clients.get(id);
    const requestId = ++this.#lastRequestId;
    const isNew = known === undefined || known.state === "closing" || known.state === "gone";
    const one: ClientProducer = isNew
      ? { requestId, state: "opening", sent: 0, receipts: [], closeAfter: undefined }
      : known;
    if (known?.state === "opening") return;
    if (isNew) this.all.push(one);
    if (known?.state !== "closing") this.clients.set(id, one);
    this.#opens.set(requestId, { id, one });
    this.receive({ kind: "producer", body: { topic: `t${id}`, producerId: id, requestId } });
  }

  send(id: bigint): void {
    const one = this.clients.get(id);
    if (one?.state !== "open") return;
    const sequenceId = BigInt(one.sent);
    const entry = entryOf(`${one.requestId}:${one.sent++}`);
    this.receive({ kind: "send", body: { producerId: id, sequenceId } }, entry);
  }

  close(id: bigint): void {
    const one = this.clients.get(id);
    if (one?.state !== "open") return;
    one.state = "closing";
    one.closeAfter = one.sent;
    const requestId = ++this.#lastRequestId;
    this.#closes.set(requestId, one);
    this.receive({ kind: "closeProducer", body: { producerId: id, requestId } });
  }

  #carryOut(effect: Effect): void {
    if (effect.kind === "send") this.#hear(effect.command);
    else if (effect.kind === "publish") this.producers.send(effect);
    else if (effect.kind === "openProducer")
      void this.producers.open(effect.producer, effect.request);
    else if (effect.kind === "closeProducer") this.producers.close(effect.producer);
    else if (effect.kind === "dropHeld") this.producers.dropHeld(effect.producer);
    else if (effect.kind === "close") throw new Error(effect.reason);
  }

  #hear(command: Command): void {
    if (command.kind === "producerSuccess") {
      const open = this.#opens.get(command.body.requestId);
      if (open === undefined) throw new Error("an answer to no request");
      if (open.one.state === "opening") open.one.state = "open";
      this.clients.set(open.id, open.one);
    } else if (command.kind === "error") {
      const open = this.#opens.get(command.body.requestId);
      if (open?.one.state === "opening") open.one.state = "gone";
    } else if (command.kind === "sendReceipt") {
      const one = this.clients.get(command.body.producerId);
      if (one === undefined) throw new Error("a receipt for no producer");
      expect(command.body.sequenceId).toBe(BigInt(one.receipts.length));
      one.receipts.push(command.body.sequenceId);
    } else if (command.kind === "closeProducer") {
      const one = this.clients.get(command.body.producerId);
      if (one !== undefined) one.state = "gone";
    } else if (command.kind === "success") {
      const one = this.#closes.get(command.body.requestId);
      if (one !== undefined) one.state = "gone";
    } else if (command.kind !== "connected") throw new Error(`unexpected ${command.kind}`);
  }
}

const id = fc.constantFrom(1n, 2n);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ open: id }) },
  { weight: 10, arbitrary: fc.record({ send: id, count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ close: id }) },
  { weight: 6, arbitrary: fc.record({ store: fc.nat(10), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ fail: fc.nat(10) }) },
  { weight: 1, arbitrary: fc.record({ brokerCloses: fc.nat(10) }) },
  { weight: 6, arbitrary: fc.record({ passMs: fc.nat(900) }) },
  { weight: 1, arbitrary: fc.constant({ leave: true as const }) },
  { weight: 1, arbitrary: fc.record({ limit: fc.option(fc.integer({ min: 1, max: 9 })) }) },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function settle(): Promise<void> {
  for (let i = 0; i < 12; i++) await Promise.resolve();
}

function take(world: World, one: Step): void {
  const { connection, handles } = world;
  const open = handles.filter(({ isClosed }) => !isClosed);
  const isReading = connection.session.isReading;
  if ("open" in one && isReading) connection.open(one.open);
  else if ("send" in one)
    for (let i = 0; i < one.count && connection.session.isReading; i++) connection.send(one.send);
  else if ("close" in one && isReading) connection.close(one.close);
  else if ("store" in one)
    for (let i = 0; i < one.count; i++) handles[one.store % handles.length]?.store(true);
  else if ("fail" in one) open[one.fail % open.length]?.store(false);
  else if ("brokerCloses" in one) {
    const handle = open[one.brokerCloses % open.length];
    if (handle === undefined) return;
    handle.close();
    handle.request.onClosed(new RefusalError("ServiceNotReady", "unloaded"));
  } else if ("passMs" in one) world.pass(one.passMs);
  else if ("leave" in one) {
    connection.end();
    world.connection = new Peer(world);
  } else if ("limit" in one) {
    const { limits } = world.ingress;
    if (one.limit === null) limits.unset({ level: "default" }, world.nowMs);
    else limits.set({ level: "default" }, { messages: one.limit }, world.nowMs);
  }
}

test("each producer's SENDs are stored in order without a gap, nothing of a client that left or of a producer that is closed, and nothing is left behind", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 70, size: "max" }), async (steps) => {
      const world = new World();
      for (const one of steps) {
        take(world, one);
        await settle();
        for (const { texts } of world.handles)
          expect(texts.map((text) => Number(text.split(":")[1]))).toEqual(texts.map((_, i) => i));
        expect(world.wrong).toEqual([]);
        // Nothing waits for a producer that is not there.
        const open = world.handles.filter(({ isClosed, hasFailed }) => !isClosed && !hasFailed);
        const names = open.map(({ request }) => `persistent://public/default/${request.topic}`);
        for (const { topic } of world.ingress.waiting(world.nowMs)) expect(names).toContain(topic);
      }
      // Everything that waits goes, and is stored.
      for (let round = 0; round < 200; round++) {
        world.pass(1_000);
        for (const handle of world.handles) while (handle.taken.length > 0) handle.store(true);
        await settle();
      }
      const { connection } = world;
      for (const one of connection.all) {
        if (one.state === "open") expect(one.receipts.length).toBe(one.sent);
        expect(["open", "gone"]).toContain(one.state);
      }
      expect([connection.producers.pending, connection.session.obstacles]).toEqual([0, []]);
      expect([world.memory.bytesOf("held"), world.ingress.wakeAtMs]).toEqual([0, Infinity]);
      expect([world.ingress.waiting(world.nowMs), world.ingress.connections]).toEqual([[], 1]);
    }),
    { numRuns: 300 },
  );
});

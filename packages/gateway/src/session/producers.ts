import { SERVER_ERROR } from "@sluice/pulsar/wire";
import type { CommandBodies, CommandOf, MessageIdData } from "@sluice/pulsar/wire";
import type { Outbox } from "./effect.ts";
import { IdWatch } from "./id-watch.ts";
import type { SessionLimits } from "./limits.ts";
import { SessionProducer } from "./producer.ts";
import type { OpenedProducer, PendingSend, SendOutcome } from "./producer.ts";
import { PublishJudge } from "./publish-judge.ts";
import type { ReadGate } from "./read-gate.ts";
import { NO_REQUEST, refuse, succeed } from "./reply.ts";
import { plainText } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";

const NO_SCHEMA = new Uint8Array();

/** The producers of one connection: they open, send, are answered, and close. */
export class Producers {
  readonly #outbox: Outbox;
  readonly #limits: SessionLimits;
  readonly #judge: PublishJudge;
  readonly #byId = new Map<bigint, SessionProducer>();
  readonly #ids: IdWatch;

  constructor(outbox: Outbox, gate: ReadGate, limits: SessionLimits) {
    this.#outbox = outbox;
    this.#limits = limits;
    this.#judge = new PublishJudge(limits, gate);
    this.#ids = new IdWatch({ unknownMax: limits.unknownIdsMax, recentMax: limits.producersMax });
  }

  get size(): number {
    return this.#byId.size;
  }

  get pendingSends(): number {
    return this.#judge.pendingSends;
  }

  open(request: CommandBodies["producer"]): void {
    const { producerId, requestId, topic } = request;
    const existing = this.#byId.get(producerId);
    if (existing !== undefined) {
      this.#openAgain(existing, request);
      return;
    }
    if (this.#byId.size >= this.#limits.producersMax) {
      refuse(this.#outbox, requestId, {
        error: "TooManyRequests",
        message: `a connection has at most ${this.#limits.producersMax} producers`,
      });
      return;
    }
    const producer = new SessionProducer(producerId, topic, requestId);
    this.#byId.set(producerId, producer);
    this.#outbox.add({ kind: "openProducer", producer, request });
  }

  opened(producer: SessionProducer, opened: OpenedProducer): void {
    if (this.#goneMeanwhile(producer)) return;
    producer.state = opened.isReady ? "open" : "waiting";
    producer.opened = opened;
    this.#tellOpened(producer.requestId, opened);
  }

  /** It is the turn of a producer that waited to be alone. */
  ready(producer: SessionProducer, topicEpoch: bigint): void {
    if (producer.state !== "waiting" || producer.opened === undefined) return;
    producer.state = "open";
    producer.opened = { ...producer.opened, isReady: true, topicEpoch };
    this.#tellOpened(producer.requestId, producer.opened);
  }

  failed(producer: SessionProducer, refusal: Refusal): void {
    if (producer.state === "closed") return;
    this.#remove(producer);
    refuse(this.#outbox, producer.requestId, refusal);
    if (producer.closeRequestId !== undefined) succeed(this.#outbox, producer.closeRequestId);
  }

  send(request: CommandBodies["send"], entry: Buffer): void {
    const { producerId, sequenceId, highestSequenceId, numMessages = 1 } = request;
    const producer = this.#byId.get(producerId);
    if (producer?.state !== "open") {
      if (producer === undefined && !this.#ids.hasEnded(producerId))
        this.#outbox.add({ kind: "close", reason: "a SEND of a producer that is not there" });
      return;
    }
    const send: PendingSend = {
      producer,
      sequenceId,
      highestSequenceId,
      messageCount: numMessages,
      sizeBytes: entry.length,
      outcome: undefined,
    };
    const refusal = this.#judge.judge(request, entry);
    producer.add(send);
    if (refusal === undefined) this.#outbox.add({ kind: "publish", send, entry });
    else this.#answer(send, sendError(send, refusal));
  }

  published(send: PendingSend, messageId: MessageIdData): void {
    const { producer, sequenceId, highestSequenceId } = send;
    this.#settle(send, {
      kind: "sendReceipt",
      body: { producerId: producer.id, sequenceId, messageId, highestSequenceId },
    });
  }

  /**
   * Of a SEND_ERROR clients make the end of their connection, and of all who share it. For a want of
   * room, which may last, only the producer is closed: clients open it again until they succeed.
   */
  publishFailed(send: PendingSend, refusal: Refusal): void {
    const isBlocked = refusal.error === "ProducerBlockedQuotaExceededError";
    this.#settle(send, isBlocked ? closed(send.producer) : sendError(send, refusal));
  }

  close({ producerId, requestId }: CommandBodies["closeProducer"]): void {
    const producer = this.#byId.get(producerId);
    if (producer === undefined || producer.closeRequestId !== undefined) {
      this.#refuseClose(producerId, requestId);
      return;
    }
    producer.closeRequestId = requestId;
    if (producer.state === "opening") return;
    producer.state = "closing";
    this.#closeIfDone(producer);
  }

  /** The broker has closed it. One that is not open yet hears what came of its request first. */
  ended(producer: SessionProducer): void {
    const { state, closeRequestId } = producer;
    if (state === "closed" || state === "opening") return;
    this.#remove(producer);
    if (closeRequestId !== undefined) succeed(this.#outbox, closeRequestId);
    else this.#outbox.send(closed(producer));
  }

  /** The connection is gone. Who is being opened now is closed once that is done. */
  endAll(): void {
    for (const producer of this.#byId.values()) {
      if (producer.state !== "opening") this.#outbox.add({ kind: "closeProducer", producer });
      producer.state = "closed";
    }
    this.#byId.clear();
  }

  /** Some clients ask again on the same connection, after an error for one of their SENDs. */
  #openAgain(existing: SessionProducer, { requestId, topic }: CommandBodies["producer"]): void {
    if (existing.state === "open" && existing.topic === topic && existing.opened !== undefined) {
      this.#tellOpened(requestId, existing.opened);
      return;
    }
    const message = `producer ${existing.id} is there already`;
    refuse(this.#outbox, requestId, { error: "ServiceNotReady", message });
  }

  #tellOpened(
    requestId: bigint,
    { name, isReady, topicEpoch, schemaVersion }: OpenedProducer,
  ): void {
    this.#outbox.send({
      kind: "producerSuccess",
      body: {
        requestId,
        producerName: name,
        lastSequenceId: -1n,
        // Java's client does without a schema, but not without this field.
        schemaVersion: schemaVersion ?? NO_SCHEMA,
        topicEpoch,
        producerReady: isReady,
      },
    });
  }

  /** The client, or its connection, left while the broker was opening it. */
  #goneMeanwhile(producer: SessionProducer): boolean {
    if (producer.state === "opening" && producer.closeRequestId === undefined) return false;
    this.#outbox.add({ kind: "closeProducer", producer });
    if (producer.state !== "opening") return true;
    this.#remove(producer);
    refuse(this.#outbox, producer.requestId, {
      error: "ServiceNotReady",
      message: "the producer was closed before it was open",
    });
    if (producer.closeRequestId !== undefined) succeed(this.#outbox, producer.closeRequestId);
    return true;
  }

  #settle(send: PendingSend, outcome: SendOutcome): void {
    this.#judge.settle();
    this.#answer(send, outcome);
  }

  #answer(send: PendingSend, outcome: SendOutcome): void {
    const { producer } = send;
    send.outcome = outcome;
    // What a client has given up it may not hear of again: the id may be another producer's now.
    for (const answer of producer.takeAnswers()) {
      if (producer.state === "closed") continue;
      if (answer.kind === "closeProducer") this.#block(producer);
      else this.#outbox.send(answer);
    }
    if (producer.state === "closing") this.#closeIfDone(producer);
  }

  #block(producer: SessionProducer): void {
    this.#outbox.add({ kind: "closeProducer", producer });
    this.ended(producer);
  }

  #closeIfDone(producer: SessionProducer): void {
    if (producer.pendingSends > 0) return;
    this.#remove(producer);
    this.#outbox.add({ kind: "closeProducer", producer });
    if (producer.closeRequestId !== undefined) succeed(this.#outbox, producer.closeRequestId);
  }

  #refuseClose(producerId: bigint, requestId: bigint): void {
    // A client that closes what we have just closed ourselves is right.
    if (this.#ids.hasEnded(producerId) && !this.#byId.has(producerId)) {
      succeed(this.#outbox, requestId);
      return;
    }
    const message = `there is no producer ${producerId}`;
    refuse(this.#outbox, requestId, { error: "UnknownError", message });
    if (!this.#ids.allowUnknown())
      this.#outbox.add({ kind: "close", reason: "too many ids of producers that are not there" });
  }

  #remove(producer: SessionProducer): void {
    producer.state = "closed";
    this.#byId.delete(producer.id);
    this.#ids.onEnded(producer.id);
  }
}

function closed({ id }: SessionProducer): CommandOf<"closeProducer"> {
  return { kind: "closeProducer", body: { producerId: id, requestId: NO_REQUEST } };
}

function sendError(
  { producer, sequenceId }: PendingSend,
  { error, message }: Refusal,
): SendOutcome {
  return {
    kind: "sendError",
    body: {
      producerId: producer.id,
      sequenceId,
      error: SERVER_ERROR[error],
      message: plainText(message),
    },
  };
}

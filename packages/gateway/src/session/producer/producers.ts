import { ACCESS_MODE, SERVER_ERROR } from "@sluice/pulsar/wire";
import type { CommandBodies, CommandOf, MessageIdData } from "@sluice/pulsar/wire";
import { notAllowed, plainText } from "../../refusal/refusal.ts";
import type { Refusal } from "../../refusal/refusal.ts";
import { IdWatch } from "../id-watch.ts";
import { SessionProducer } from "./producer.ts";
import type { OpenedProducer, SendOutcome } from "./producer.ts";
import { NO_REQUEST, refuse, succeed } from "../request/reply.ts";
import type { SessionContext } from "../session-context.ts";
import { UnsentAnswers } from "./unsent-answers.ts";
import { validateSend } from "./validate-send.ts";

const NO_SCHEMA = new Uint8Array();

/** The producers of one connection: they open, send, are answered, and close. */
export class Producers {
  readonly #context: SessionContext;
  readonly #byId = new Map<bigint, SessionProducer>();
  readonly #byKey = new Map<number, SessionProducer>();
  readonly #ids: IdWatch;
  readonly #unsent: UnsentAnswers;

  constructor(context: SessionContext) {
    this.#context = context;
    const { unknownIdsMax, producersMax } = context.facts.limits;
    this.#ids = new IdWatch(unknownIdsMax, producersMax);
    this.#unsent = new UnsentAnswers(context);
  }

  get size(): number {
    return this.#byId.size;
  }

  open(request: CommandBodies["producer"]): void {
    const { producerId, requestId, topic } = request;
    const existing = this.#byId.get(producerId);
    if (existing !== undefined) {
      this.#openAgain(existing, request);
      return;
    }
    const refusal = this.#cannotOpen(request);
    if (refusal !== undefined) {
      refuse(this.#outbox, requestId, refusal);
      return;
    }
    const producer = new SessionProducer(this.#context.nextKey(), producerId, topic, requestId);
    this.#byId.set(producerId, producer);
    this.#byKey.set(producer.key, producer);
    this.#outbox.add({ kind: "openProducer", producer: producer.key, request });
  }

  opened(event: OpenedProducer): void {
    const producer = this.#byKey.get(event.producer);
    // The connection, or the client, has left meanwhile.
    if (producer === undefined || producer.closeRequestId !== undefined) {
      this.#outbox.add({ kind: "closeProducer", producer: event.producer });
      if (producer !== undefined) this.#closedBeforeOpen(producer);
      return;
    }
    producer.state = event.isReady ? "open" : "waiting";
    producer.opened = event;
    this.#tellOpened(producer.requestId, event);
  }

  ready(key: number, topicEpoch: bigint): void {
    const producer = this.#byKey.get(key);
    if (producer?.state !== "waiting" || producer.opened === undefined) return;
    producer.state = "open";
    producer.opened = { ...producer.opened, isReady: true, topicEpoch };
    this.#tellOpened(producer.requestId, producer.opened);
  }

  failed(key: number, refusal: Refusal): void {
    const producer = this.#byKey.get(key);
    if (producer === undefined) return;
    this.#remove(producer);
    refuse(this.#outbox, producer.requestId, refusal);
    if (producer.closeRequestId !== undefined) succeed(this.#outbox, producer.closeRequestId);
  }

  send(request: CommandBodies["send"], entry: Buffer): void {
    const { producerId, sequenceId, highestSequenceId, numMessages = 1 } = request;
    const producer = this.#byId.get(producerId);
    if (producer?.state !== "open") {
      if (producer === undefined && !this.#ids.hasEnded(producerId))
        this.#outbox.close(`SEND of producer ${producerId}, which is not open`);
      return;
    }
    const refusal = validateSend(request, entry, this.#context.facts.limits);
    const unsent = refusal === undefined ? undefined : this.#unsent;
    const sequence = producer.add(sequenceId, highestSequenceId, unsent);
    if (refusal !== undefined) {
      this.#answer(producer, sequence, sendError(producer, sequenceId, refusal));
      return;
    }
    const { key } = producer;
    this.#outbox.add({
      kind: "publish",
      producer: key,
      sequence,
      messageCount: numMessages,
      entry,
    });
  }

  published(key: number, sequence: number, messageId: MessageIdData): void {
    const producer = this.#byKey.get(key);
    const send = producer?.pendingSend(sequence);
    if (producer === undefined || send === undefined) return;
    const { sequenceId, highestSequenceId } = send;
    this.#answer(producer, sequence, {
      kind: "sendReceipt",
      body: { producerId: producer.id, sequenceId, messageId, highestSequenceId },
    });
  }

  /**
   * Clients close a connection, with all producers on it, after a SEND_ERROR. For lack of room, which
   * may last, only the producer is closed: clients open it again until they succeed. Those of a
   * terminated topic learn it when they open it again; after a SEND_ERROR Go's would not try.
   */
  publishFailed(key: number, sequence: number, refusal: Refusal): void {
    const producer = this.#byKey.get(key);
    const send = producer?.pendingSend(sequence);
    if (producer === undefined || send === undefined) return;
    const closes = CLOSING_ERRORS.has(refusal.error);
    // SENDs that come from now on would be stored before the one that found no room.
    if (closes && producer.state === "open") producer.state = "blocked";
    if (closes) this.#outbox.add({ kind: "dropHeld", producer: key });
    const outcome = closes ? closed(producer) : sendError(producer, send.sequenceId, refusal);
    this.#answer(producer, sequence, outcome);
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
    this.#closeIfAnswered(producer);
  }

  /** The broker has closed a producer. While it is opening, its request is answered first. */
  ended(key: number): void {
    const producer = this.#byKey.get(key);
    if (producer === undefined || producer.state === "opening") return;
    this.#end(producer);
  }

  /** The connection is gone. Producers that are opening are closed once they are open. */
  endAll(): void {
    for (const { key, state } of this.#byKey.values())
      if (state !== "opening") this.#outbox.add({ kind: "closeProducer", producer: key });
    this.#byId.clear();
    this.#byKey.clear();
  }

  get #outbox(): SessionContext["outbox"] {
    return this.#context.outbox;
  }

  #cannotOpen(request: CommandBodies["producer"]): Refusal | undefined {
    const { producersMax } = this.#context.facts.limits;
    const { topic, producerAccessMode = 0 } = request;
    if (this.#byId.size >= producersMax)
      return {
        error: "TooManyRequests",
        message: `the connection has ${producersMax} producers, its maximum; use another connection`,
      };
    if (producerAccessMode < ACCESS_MODE.shared || producerAccessMode > MODE_MAX)
      return notAllowed(`access mode ${producerAccessMode} does not exist`);
    return this.#context.denies("produce", topic);
  }

  /**
   * Some clients send PRODUCER again on the same connection, after an error for one of their SENDs or
   * before they heard that it is closed. SENDs that came before are answered first: the client sends
   * again what it has no answer for.
   */
  #openAgain(existing: SessionProducer, request: CommandBodies["producer"]): void {
    const { requestId, topic } = request;
    if (existing.state === "open" && existing.topic === topic && existing.opened !== undefined) {
      const sequence = existing.add(0n, undefined, this.#unsent);
      this.#answer(existing, sequence, opened(requestId, existing.opened));
      return;
    }
    if (existing.state === "closing" && existing.successor === undefined) {
      existing.successor = request;
      return;
    }
    const message = `producer ${existing.id} exists already`;
    refuse(this.#outbox, requestId, { error: "ServiceNotReady", message });
  }

  #tellOpened(requestId: bigint, producer: OpenedProducer): void {
    this.#outbox.send(opened(requestId, producer));
  }

  #closedBeforeOpen(producer: SessionProducer): void {
    this.#remove(producer);
    refuse(this.#outbox, producer.requestId, {
      error: "ServiceNotReady",
      message: "the producer was closed before it was open",
    });
    if (producer.closeRequestId !== undefined) succeed(this.#outbox, producer.closeRequestId);
  }

  #answer(producer: SessionProducer, sequence: number, outcome: SendOutcome): void {
    const send = producer.pendingSend(sequence);
    if (send !== undefined) send.outcome = outcome;
    for (;;) {
      const answer = producer.takeAnswer();
      if (answer === undefined) break;
      if (answer.kind === "closeProducer") {
        // What follows is not told: the client sends all of it again.
        this.#outbox.add({ kind: "closeProducer", producer: producer.key });
        this.#end(producer);
        return;
      }
      this.#outbox.send(answer);
    }
    if (producer.state === "closing") this.#closeIfAnswered(producer);
  }

  #end(producer: SessionProducer): void {
    this.#remove(producer);
    if (producer.closeRequestId !== undefined) succeed(this.#outbox, producer.closeRequestId);
    else this.#outbox.send(closed(producer));
    for (const outcome of producer.takeRest())
      if (outcome?.kind === "producerSuccess")
        refuse(this.#outbox, outcome.body.requestId, {
          error: "ServiceNotReady",
          message: "the producer was closed meanwhile; open it again",
        });
    this.#openSuccessor(producer);
  }

  #closeIfAnswered(producer: SessionProducer): void {
    if (producer.pendingSends > 0) return;
    this.#remove(producer);
    this.#outbox.add({ kind: "closeProducer", producer: producer.key });
    if (producer.closeRequestId !== undefined) succeed(this.#outbox, producer.closeRequestId);
    this.#openSuccessor(producer);
  }

  #openSuccessor({ successor }: SessionProducer): void {
    if (successor !== undefined) this.open(successor);
  }

  #refuseClose(producerId: bigint, requestId: bigint): void {
    // The broker has just closed it, and the client did not know yet.
    if (this.#ids.hasEnded(producerId) && !this.#byId.has(producerId)) {
      succeed(this.#outbox, requestId);
      return;
    }
    const message = `there is no producer ${producerId}`;
    refuse(this.#outbox, requestId, { error: "UnknownError", message });
    if (!this.#ids.allowUnknown())
      this.#outbox.close("too many commands name producers that do not exist");
  }

  #remove({ id, key }: SessionProducer): void {
    this.#byId.delete(id);
    this.#byKey.delete(key);
    this.#ids.onEnded(id);
  }
}

/** Errors of a SEND that end its producer and leave the connection alone. */
const CLOSING_ERRORS: ReadonlySet<Refusal["error"]> = new Set([
  "ProducerBlockedQuotaExceededError",
  "TopicTerminatedError",
]);

const MODE_MAX = ACCESS_MODE.exclusiveWithFencing;

function opened(requestId: bigint, producer: OpenedProducer): CommandOf<"producerSuccess"> {
  return {
    kind: "producerSuccess",
    body: {
      requestId,
      producerName: producer.name,
      lastSequenceId: producer.lastSequenceId,
      // Java's client does without a schema, but not without this field.
      schemaVersion: producer.schemaVersion ?? NO_SCHEMA,
      topicEpoch: producer.topicEpoch,
      producerReady: producer.isReady,
    },
  };
}

function closed({ id }: SessionProducer): CommandOf<"closeProducer"> {
  return { kind: "closeProducer", body: { producerId: id, requestId: NO_REQUEST } };
}

function sendError(
  { id }: SessionProducer,
  sequenceId: bigint,
  { error, message }: Refusal,
): SendOutcome {
  return {
    kind: "sendError",
    body: {
      producerId: id,
      sequenceId,
      error: SERVER_ERROR[error],
      message: plainText(message),
    },
  };
}

import type { CommandBodies } from "@sluice/pulsar/wire";
import { notAllowed } from "../../refusal/refusal.ts";
import type { Refusal } from "../../refusal/refusal.ts";
import { IdWatch } from "../../session/id-watch.ts";
import { messagesInEntry } from "../frames/messages-in-entry.ts";
import { isSend } from "../relay-commands.ts";
import type { ProducerFrame, SendFrame } from "../relay-commands.ts";
import { pass, refuse } from "../relay-context.ts";
import type { AdmittedProducer, RelayContext } from "../relay-context.ts";
import { entryStartOf } from "../frames/slim-frames.ts";
import { WaitingFrames } from "../frames/waiting-frames.ts";

/** Producer ids whose PRODUCER was refused and that are remembered; one more ends the connection. */
const REFUSED_MAX = 1_024;

/** A producer of the client, from its PRODUCER until it is closed by either side. */
class RelayProducer implements AdmittedProducer {
  readonly key: number;
  readonly id: bigint;
  readonly topic: string;
  readonly name: string;
  state: "pending" | "open" | "closing" = "pending";
  /** SENDs that went upstream and have no receipt. */
  pendingSends = 0;
  heldSends = 0;
  /** Requests that open or close it and have no answer: two at most. */
  requestIds: readonly bigint[] = [];
  /** The one before it with the same id, whose CLOSE_PRODUCER has no answer yet. */
  former: RelayProducer | undefined;

  constructor(key: number, { producerId, topic, producerName = "" }: CommandBodies["producer"]) {
    this.key = key;
    this.id = producerId;
    this.topic = topic;
    this.name = producerName;
  }
}

/** The producers of one client: whose SENDs wait, and which of them have no receipt. */
export class RelayProducers {
  readonly #context: RelayContext;
  readonly #byId = new Map<bigint, RelayProducer>();
  readonly #byKey = new Map<number, RelayProducer>();
  /** By the request that opens or closes a producer. */
  readonly #requests = new Map<bigint, RelayProducer>();
  readonly #behind = new WaitingFrames();
  /**
   * Topics by the producer ids whose PRODUCER was refused. The ERROR may have been for another request with
   * the same id, and the producer may be open. Its id keeps its topic, so that its limits stay right.
   */
  readonly #refused = new Map<bigint, string>();
  readonly #ids: IdWatch;
  /** The one that was asked for last, by `#byId`: most frames are of the same producer as the one before. */
  #last: RelayProducer | undefined;
  #pendingSends = 0;

  constructor(context: RelayContext) {
    this.#context = context;
    const { unknownIdsMax, producersMax } = context.facts.limits;
    this.#ids = new IdWatch(unknownIdsMax, producersMax);
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** SENDs that went upstream and have no receipt. */
  get pendingSends(): number {
    return this.#pendingSends;
  }

  /** The topic of a producer, for a command of the upstream that names it by its id. */
  topicOf(id: bigint): string | undefined {
    return this.#find(id)?.topic;
  }

  /** PRODUCER, SEND or CLOSE_PRODUCER. */
  onClientFrame(frame: ProducerFrame, nowMs: number): void {
    const id = frame.command.body.producerId;
    if (this.#mustWait(frame, id)) this.#wait(frame, id);
    else this.#handle(frame, nowMs);
  }

  /** A held SEND may go. */
  release(key: number, frame: SendFrame, nowMs: number): void {
    const producer = this.#byKey.get(key);
    // The producer was closed, and the client has heard of it.
    if (producer === undefined) return;
    producer.heldSends--;
    this.#send(producer, frame);
    this.#letFollow(producer.id, nowMs);
  }

  /** PRODUCER_SUCCESS. A producer that waits for exclusive access gets another one later. */
  opened({ requestId, producerReady = true }: CommandBodies["producerSuccess"]): void {
    const producer = this.#requests.get(requestId);
    if (producer === undefined || !producerReady) return;
    if (producer.state === "pending") producer.state = "open";
    this.#requests.delete(requestId);
    this.#refused.delete(producer.id);
  }

  /** SUCCESS or ERROR. True if it was the answer to PRODUCER or CLOSE_PRODUCER. */
  settle(requestId: bigint, nowMs: number): boolean {
    const producer = this.#requests.get(requestId);
    if (producer === undefined) return false;
    this.#requests.delete(requestId);
    if (producer.state === "pending") this.#rememberRefused(producer);
    this.#remove(producer, nowMs);
    return true;
  }

  /** SEND_RECEIPT or SEND_ERROR. */
  receipt(id: bigint, nowMs: number): void {
    // Receipts of a producer that is closing come before the answer to its CLOSE_PRODUCER.
    const producer = this.#oldest(id);
    if (producer === undefined || producer.pendingSends === 0) return;
    producer.pendingSends--;
    this.#settleSends(1, nowMs);
  }

  /** CLOSE_PRODUCER of the broker. The client opens the producer again and sends again what it held. */
  closedByBroker(id: bigint, nowMs: number): void {
    const producer = this.#oldest(id);
    if (producer !== undefined) this.#remove(producer, nowMs);
  }

  endAll(nowMs: number): void {
    for (const producer of this.#byKey.values()) this.#context.admission.drop(producer, nowMs);
    this.#byKey.clear();
    this.#byId.clear();
    this.#last = undefined;
    this.#requests.clear();
    this.#refused.clear();
    this.#behind.clear();
    this.#pendingSends = 0;
  }

  #find(id: bigint): RelayProducer | undefined {
    if (this.#last?.id !== id) this.#last = this.#byId.get(id);
    return this.#last;
  }

  #mustWait({ command }: ProducerFrame, id: bigint): boolean {
    if (this.#behind.bytes > 0 && this.#behind.has(id)) return true;
    // A SEND asks for admission, which knows of the SENDs that are held.
    return command.kind !== "send" && (this.#find(id)?.heldSends ?? 0) > 0;
  }

  #wait(frame: ProducerFrame, id: bigint): void {
    // The client has closed the producer itself: it cannot have been told of another one.
    if (isSend(frame) && this.#behind.lastKind(id) === "closeProducer") {
      this.#context.outbox.close(`SEND of producer ${id} after its CLOSE_PRODUCER`);
      return;
    }
    this.#behind.add(id, frame);
    this.#updateBehind();
  }

  /** Handles what waited behind the held SENDs of a producer id, until a SEND is held again. */
  #letFollow(id: bigint, nowMs: number): void {
    if (!this.#behind.has(id)) return;
    while ((this.#find(id)?.heldSends ?? 0) === 0) {
      const frame = this.#behind.take(id);
      if (frame === undefined) break;
      this.#handle(frame, nowMs);
    }
    this.#updateBehind();
  }

  #updateBehind(): void {
    const { gate, outbox } = this.#context;
    outbox.add({ kind: "waitingBytes", bytes: this.#behind.bytes });
    if (this.#behind.isFull) gate.block("behind-held");
    else gate.unblock("behind-held");
  }

  #handle(frame: ProducerFrame, nowMs: number): void {
    if (isSend(frame)) {
      this.#offer(frame, nowMs);
      return;
    }
    const { command } = frame;
    if (command.kind === "producer") this.#open(frame, command.body);
    else if (command.kind === "closeProducer") this.#close(frame, command.body);
  }

  #offer(frame: SendFrame, nowMs: number): void {
    const { admission, outbox, facts } = this.#context;
    const { producerId } = frame.command.body;
    const producer = this.#find(producerId);
    if (producer === undefined || producer.state === "closing") {
      // The client does not know yet that the broker has closed the producer; it sends all of them again.
      if (this.#ids.hasEnded(producerId)) return;
      outbox.close(`SEND of producer ${producerId}, which is not open`);
      return;
    }
    const { numMessages = 1 } = frame.command.body;
    // The command's count is the client's word, and no checksum covers it; brokers believe it.
    const inEntry = messagesInEntry(frame.bytes, entryStartOf(frame));
    const messages = numMessages > 0 ? Math.max(numMessages, inEntry) : numMessages;
    if (messages < 1 || messages > facts.limits.batchMessagesMax) {
      outbox.close(
        `a SEND of ${messages} messages; 1 to ${facts.limits.batchMessagesMax} may be sent`,
      );
      return;
    }
    if (admission.admit(producer, frame, messages, nowMs)) this.#send(producer, frame);
    else producer.heldSends++;
  }

  #send(producer: RelayProducer, frame: SendFrame): void {
    pass(this.#context, frame);
    producer.pendingSends++;
    this.#pendingSends++;
  }

  #open(frame: ProducerFrame, request: CommandBodies["producer"]): void {
    const { producerId, requestId } = request;
    const former = this.#find(producerId);
    // A client may send PRODUCER again for one that is open: the broker answers, and nothing changes.
    if (former === undefined || former.state === "closing") {
      const producer = new RelayProducer(this.#context.nextKey(), request);
      const refusal = this.#refusalOf(producer) ?? this.#context.admission.open(producer);
      if (refusal !== undefined) {
        refuse(this.#context, requestId, refusal);
        return;
      }
      producer.former = former;
      this.#byId.set(producerId, producer);
      this.#last = undefined;
      this.#byKey.set(producer.key, producer);
      this.#ask(producer, requestId);
    }
    pass(this.#context, frame);
  }

  #refusalOf({ id, topic }: RelayProducer): Refusal | undefined {
    const { producersMax } = this.#context.facts.limits;
    if (this.#byKey.size >= producersMax)
      return {
        error: "TooManyRequests",
        message: `the connection has ${producersMax} producers, its maximum; use another connection`,
      };
    const former = this.#refused.get(id);
    if (former === undefined || former === topic) return undefined;
    return notAllowed(`producer ${id} was refused for another topic; use another producer id`);
  }

  #rememberRefused({ id, topic }: RelayProducer): void {
    this.#refused.set(id, topic);
    if (this.#refused.size > REFUSED_MAX)
      this.#context.outbox.close(`the broker refused ${REFUSED_MAX} producers of the connection`);
  }

  #close(frame: ProducerFrame, { producerId, requestId }: CommandBodies["closeProducer"]): void {
    const producer = this.#find(producerId);
    if (producer !== undefined && producer.state !== "closing") {
      producer.state = "closing";
      this.#ask(producer, requestId);
    }
    pass(this.#context, frame);
  }

  #ask(producer: RelayProducer, requestId: bigint): void {
    producer.requestIds = [...producer.requestIds, requestId];
    this.#requests.set(requestId, producer);
  }

  #oldest(id: bigint): RelayProducer | undefined {
    let oldest = this.#find(id);
    while (oldest?.former !== undefined) oldest = oldest.former;
    return oldest;
  }

  #remove(producer: RelayProducer, nowMs: number): void {
    // It may have been removed before, by the broker, while its CLOSE_PRODUCER was on its way.
    if (!this.#byKey.delete(producer.key)) return;
    const newest = this.#find(producer.id);
    if (newest === producer) this.#forget(producer);
    for (let later = newest; later !== undefined; later = later.former)
      if (later.former === producer) later.former = producer.former;
    for (const requestId of producer.requestIds)
      if (this.#requests.get(requestId) === producer) this.#requests.delete(requestId);
    this.#ids.onEnded(producer.id);
    this.#context.admission.drop(producer, nowMs);
    producer.heldSends = 0;
    this.#settleSends(producer.pendingSends, nowMs);
    producer.pendingSends = 0;
    this.#letFollow(producer.id, nowMs);
  }

  #forget({ id, former }: RelayProducer): void {
    this.#last = undefined;
    if (former === undefined) this.#byId.delete(id);
    else this.#byId.set(id, former);
  }

  #settleSends(count: number, nowMs: number): void {
    this.#pendingSends -= count;
    for (let settled = 0; settled < count; settled++) this.#context.admission.settled(nowMs);
  }
}

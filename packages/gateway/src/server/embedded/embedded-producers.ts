import type { Reason } from "@sluice/core";
import { ACCESS_MODE } from "@sluice/pulsar/wire";
import type { CommandBodies, ThrottleCodec } from "@sluice/pulsar/wire";
import { messageIdOf, NO_MESSAGE_ID } from "../../broker/message-id.ts";
import type {
  ConnectionIngress,
  IngressClient,
} from "../../ingress/connection/connection-ingress.ts";
import type { ThrottleNotice } from "../../ingress/notices/aware-connection.ts";
import { noticeCommand } from "../../ingress/notices/notice-command.ts";
import { parseTopicName } from "../../name/topic-name.ts";
import { RefusalError } from "../../refusal/refusal-error.ts";
import { refusalOf } from "../../refusal/refusal-of.ts";
import type { AccessMode, ProducerHandle } from "../../topic/producer/producer-handle.ts";
import type { Wire } from "../backend.ts";
import { given } from "./consumer-request.ts";
import { clientFacts } from "./embedded-world.ts";
import type { EmbeddedConnection, ProducerWorld } from "./embedded-world.ts";
import type { HeldPublish } from "./held-publish.ts";

/** The producers of one connection: what they send goes through the limits into the topics. */
export class EmbeddedProducers implements IngressClient<HeldPublish> {
  readonly address: string;
  readonly #wire: Wire;
  readonly #world: ProducerWorld;
  readonly #connection: EmbeddedConnection;
  readonly #throttle: ThrottleCodec | undefined;
  readonly #handles = new Map<number, ProducerHandle>();
  readonly #ingress: ConnectionIngress<HeldPublish>;
  /** Bytes of notices of which the session does not know yet. */
  noticeBytes = 0;
  /** Entries that are being stored. */
  #storedBytes = 0;

  constructor(
    wire: Wire,
    world: ProducerWorld,
    connection: EmbeddedConnection,
    throttle: ThrottleCodec | undefined,
  ) {
    this.address = wire.address;
    this.#wire = wire;
    this.#world = world;
    this.#connection = connection;
    this.#throttle = throttle;
    this.#ingress = world.ingress.connect(this);
  }

  get clientVersion(): string | undefined {
    return this.#connection.clientVersion || undefined;
  }

  /** SENDs that are being stored. */
  get pending(): number {
    return this.#ingress.pending;
  }

  /** Memory of SENDs that are held or being stored. */
  get keptBytes(): number {
    return this.#ingress.heldBytes + this.#storedBytes;
  }

  setAware(): void {
    this.#ingress.setAware();
  }

  receipt(requestId: bigint): void {
    this.#ingress.receipt(requestId, this.#nowMs);
  }

  async open(producer: number, request: CommandBodies["producer"]): Promise<void> {
    const { broker, schemas } = this.#world;
    const { topic, producerName, producerAccessMode = 0, epoch = 0n, topicEpoch, schema } = request;
    const { clientBytes, report } = this.#connection;
    let ended: RefusalError | undefined;
    try {
      clientBytes.reserve(producer, request, [producerName, request.initialSubscriptionName]);
      const handle = await broker.openProducer({
        topic,
        producerName: given(producerName),
        accessMode: ACCESS_MODES.get(producerAccessMode) ?? "shared",
        owner: this,
        id: request.producerId,
        client: clientFacts(this.#connection, request.metadata),
        epoch,
        topicEpoch,
        initialSubscription: given(request.initialSubscriptionName),
        onContested: () => this.#connection.onContested(),
        onReady: (newEpoch) => report({ kind: "producerReady", producer, topicEpoch: newEpoch }),
        onClosed: (why) => {
          ended = why;
          this.#drop(producer);
          this.#connection.reportClosed({ kind: "producerClosed", producer });
        },
      });
      this.#handles.set(producer, handle);
      const schemaVersion = schema === undefined ? undefined : await schemas.put(topic, schema);
      const { name, isReady, lastSequenceId, topicEpoch: newEpoch } = handle;
      const { producerId } = request;
      this.#ingress.open(producer, { topic: parseTopicName(topic).full, name, producerId });
      const opened = { name, isReady, lastSequenceId, topicEpoch: newEpoch, schemaVersion };
      report({ kind: "producerOpened", producer, ...opened });
      if (ended === undefined) return;
      this.#drop(producer);
      report({ kind: "producerClosed", producer });
    } catch (error) {
      this.#handles.get(producer)?.close();
      this.#drop(producer);
      report({ kind: "producerFailed", producer, refusal: refusalOf(error) });
    }
  }

  /** A SEND has come: it goes now, or when the limits allow it. */
  send(item: HeldPublish): void {
    const cost = { messages: item.messageCount, bytes: item.entry.length };
    if (this.#ingress.offer(item.producer, item, cost, this.#nowMs)) this.publish(item);
  }

  publish(item: HeldPublish): void {
    void this.#publish(item);
  }

  /** What is held of a producer is not to be stored. */
  dropHeld(producer: number): void {
    this.#ingress.close(producer, this.#nowMs);
  }

  close(producer: number): void {
    this.#handles.get(producer)?.close();
    this.#drop(producer);
  }

  /** The connection is gone: what waits is not stored. Handles are closed one by one. */
  end(nowMs: number): void {
    this.#ingress.end(nowMs);
  }

  throttle(reason: Reason): void {
    this.#connection.report({ kind: "throttled", reason });
  }

  unthrottle(reason: Reason): void {
    this.#connection.report({ kind: "unthrottled", reason });
  }

  notify(notice: ThrottleNotice): void {
    if (this.#throttle === undefined) return;
    this.noticeBytes += this.#wire.send(noticeCommand(this.#throttle, notice));
    // The session is told in a turn of its own: it may want the connection closed.
    this.#wire.wake();
  }

  /** The client has broken the protocol. */
  disconnect(reason: string): void {
    this.#wire.close(reason);
  }

  async #publish({ producer, sequence, messageCount, entry }: HeldPublish): Promise<void> {
    const { memory } = this.#world;
    const { report } = this.#connection;
    const { length } = entry;
    memory.reserve("publish", length);
    this.#storedBytes += length;
    try {
      const handle = openOr(this.#handles.get(producer));
      const position = await handle.publish({ parts: [entry], messageCount });
      const messageId = position === undefined ? NO_MESSAGE_ID : messageIdOf(position);
      this.#ingress.settled(this.#nowMs);
      report({ kind: "published", producer, sequence, messageId });
    } catch (error) {
      this.#ingress.settled(this.#nowMs);
      report({ kind: "publishFailed", producer, sequence, refusal: refusalOf(error) });
    } finally {
      // After the answer: frames that have waited for this room may be answered at once.
      this.#storedBytes -= length;
      memory.release("publish", length);
    }
  }

  get #nowMs(): number {
    return this.#world.clock.now();
  }

  #drop(producer: number): void {
    this.#handles.delete(producer);
    this.#ingress.close(producer, this.#nowMs);
    this.#connection.clientBytes.release(producer);
  }
}

const ACCESS_MODES: ReadonlyMap<number, AccessMode> = new Map([
  [ACCESS_MODE.shared, "shared"],
  [ACCESS_MODE.exclusive, "exclusive"],
  [ACCESS_MODE.waitForExclusive, "wait-for-exclusive"],
  [ACCESS_MODE.exclusiveWithFencing, "exclusive-with-fencing"],
]);

function openOr(handle: ProducerHandle | undefined): ProducerHandle {
  if (handle !== undefined) return handle;
  throw new RefusalError("ServiceNotReady", "the producer is closed");
}

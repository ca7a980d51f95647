import type { Clock, Reason } from "@sluice/core";
import type { ConnectionIngress, IngressClient } from "../ingress/connection/connection-ingress.ts";
import type { Kept } from "../ingress/desk/publish-desk.ts";
import type { Ingress } from "../ingress/ingress.ts";
import type { ThrottleNotice } from "../ingress/notices/aware-connection.ts";
import { ownBytes } from "../memory/own-bytes.ts";
import type { Refusal } from "../refusal/refusal.ts";
import { RefusalError } from "../refusal/refusal-error.ts";
import type { SendFrame } from "../relay/relay-commands.ts";
import { entryBytesOf, slimSend } from "../relay/frames/slim-frames.ts";
import type { Admission, AdmittedProducer } from "../relay/relay-context.ts";
import type { RelayEvent } from "../relay/relay-event.ts";

/** A SEND that may have to wait. */
export interface RelayedSend {
  readonly producer: number;
  readonly frame: SendFrame;
}

/** What a held SEND takes beside its frame: its places in queues, and its decoded command. */
const HELD_OBJECT_BYTES = 512;

/** A held frame does not keep the chunk that it came in. */
export function keepSend(send: RelayedSend): Kept<RelayedSend> {
  const { bytes, command } = send.frame;
  const own = ownBytes(bytes);
  const keptBytes = own.buffer.byteLength + HELD_OBJECT_BYTES;
  if (own === bytes) return { item: send, bytes: keptBytes };
  // A slim command would keep the chunk.
  const frame = slimSend(own) ?? {
    bytes: own,
    command,
    entry: own.subarray(own.length - entryBytesOf(send.frame)),
  };
  return { item: { ...send, frame }, bytes: keptBytes };
}

/** Asks the publish limits of the process for the SENDs of one relay. */
export class IngressAdmission implements Admission, IngressClient<RelayedSend> {
  readonly address: string;
  readonly #ingress: Ingress<RelayedSend>;
  /** Made with the first producer. */
  #connection: ConnectionIngress<RelayedSend> | undefined;
  #isAware = false;
  readonly #tell: (event: RelayEvent, nowMs: number) => void;
  readonly #clock: Clock;

  /** `tell` hands events to the relay, after the event that it is busy with. */
  constructor(
    ingress: Ingress<RelayedSend>,
    address: string,
    clock: Clock,
    tell: (event: RelayEvent, nowMs: number) => void,
  ) {
    this.address = address;
    this.#clock = clock;
    this.#tell = tell;
    this.#ingress = ingress;
  }

  get heldBytes(): number {
    return this.#connection?.heldBytes ?? 0;
  }

  setAware(): void {
    this.#isAware = true;
  }

  open({ key, id, topic, name }: AdmittedProducer): Refusal | undefined {
    try {
      this.#open().open(key, { topic, name, producerId: id });
      return undefined;
    } catch (error) {
      // A name that is none has no limits, and no broker takes it.
      if (error instanceof RefusalError) return { error: error.error, message: error.message };
      throw error;
    }
  }

  admit({ key }: AdmittedProducer, frame: SendFrame, messages: number, nowMs: number): boolean {
    const cost = { messages, bytes: entryBytesOf(frame) };
    return this.#open().offer(key, { producer: key, frame }, cost, nowMs);
  }

  settled(nowMs: number): void {
    this.#connection?.settled(nowMs);
  }

  noticed(requestId: bigint, nowMs: number): void {
    this.#open().receipt(requestId, nowMs);
  }

  drop({ key }: AdmittedProducer, nowMs: number): void {
    this.#connection?.close(key, nowMs);
  }

  /** The client is gone. */
  end(nowMs: number): void {
    this.#connection?.end(nowMs);
  }

  #open(): ConnectionIngress<RelayedSend> {
    if (this.#connection === undefined) {
      this.#connection = this.#ingress.connect(this);
      if (this.#isAware) this.#connection.setAware();
    }
    return this.#connection;
  }

  publish({ producer, frame }: RelayedSend, nowMs: number): void {
    this.#tell({ kind: "released", producer, frame }, nowMs);
  }

  throttle(reason: Reason, nowMs: number): void {
    this.#tell({ kind: "throttled", reason }, nowMs);
  }

  unthrottle(reason: Reason, nowMs: number): void {
    this.#tell({ kind: "unthrottled", reason }, nowMs);
  }

  /**
   * Told when the ingress is done: a client that does not read is closed by what it is sent, and its end
   * would change the queues that the ingress walks through.
   */
  notify(notice: ThrottleNotice): void {
    void Promise.resolve().then(() => this.#tell({ kind: "notice", notice }, this.#clock.now()));
  }

  disconnect(reason: string): void {
    this.#tell({ kind: "violated", reason }, this.#clock.now());
  }
}

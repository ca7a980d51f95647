import type { SluiceError } from "@sluice/core";
import type { Command } from "../../wire/command.ts";
import type { CommandThrottleProducer } from "../../wire/definition/throttle.ts";
import type { AttachmentRole } from "../event/client-event.ts";

/** A producer or consumer on a connection. */
export interface Attached {
  /**
   * A command for this producer or consumer, and the entry behind it, a view of the frame. A
   * `ProtocolError` thrown here closes the connection.
   */
  onCommand(command: Command, entry: Buffer): void;
  /** The broker limits this producer. Its receipt is sent already. Must not throw. */
  onThrottle(command: CommandThrottleProducer): void;
  /** The connection is writable again. Must not throw. */
  onDrain(): void;
  /** Called once when the connection is gone: nothing that was sent will be answered. Must not throw. */
  onLost(reason: SluiceError): void;
}

/** The producers and consumers of one connection, by their ids. */
export class AttachedSet {
  readonly #producers = new Map<bigint, Attached>();
  readonly #consumers = new Map<bigint, Attached>();

  add(role: AttachmentRole, id: bigint, attached: Attached): void {
    this.#of(role).set(id, attached);
  }

  delete(role: AttachmentRole, id: bigint): void {
    this.#of(role).delete(id);
  }

  get(role: AttachmentRole, id: bigint): Attached | undefined {
    return this.#of(role).get(id);
  }

  /** Lets producers write in turn while the connection is writable; a served one goes to the end. */
  onDrain(isWritable: () => boolean): void {
    const producers = [...this.#producers];
    for (const [id, producer] of producers) {
      if (!isWritable()) break;
      if (this.#producers.delete(id)) this.#producers.set(id, producer);
      producer.onDrain();
    }
    for (const consumer of this.#consumers.values()) consumer.onDrain();
  }

  /** Empties the set, then tells every member. */
  lose(reason: SluiceError): void {
    const all = [...this.#producers.values(), ...this.#consumers.values()];
    this.#producers.clear();
    this.#consumers.clear();
    for (const each of all) each.onLost(reason);
  }

  #of(role: AttachmentRole): Map<bigint, Attached> {
    return role === "producer" ? this.#producers : this.#consumers;
  }
}

import type { Command } from "../../wire/command.ts";
import type { MessageIdData } from "../../wire/definition/message-id.ts";
import { brokerErrorOf } from "../error/broker-error.ts";
import { ConnectionError } from "../error/connection-error.ts";
import type { Connection } from "../connection/connection.ts";
import { MessageId } from "../message/message-id.ts";
import { ackCommands, corruptAckCommand } from "./acknowledge/ack-commands.ts";
import type { AckChannel } from "./acknowledge/ack-tracker.ts";
import type { ValidationErrorName } from "./receive/corrupt-entry-error.ts";
import type { AckGroup } from "./acknowledge/pending-acks.ts";

/** The consumer of the commands. */
export interface ConsumerIdentity {
  readonly consumerId: bigint;
  readonly topic: string;
}

/**
 * The commands of one consumer. While detached, commands without an answer are dropped, because a
 * new attachment repeats them; requests fail.
 */
export class ConsumerLink implements AckChannel {
  readonly #identity: ConsumerIdentity;
  readonly #connection: () => Connection | undefined;

  /** `connection` returns the current connection of the attachment. */
  constructor(identity: ConsumerIdentity, connection: () => Connection | undefined) {
    this.#identity = identity;
    this.#connection = connection;
  }

  get isOpen(): boolean {
    return this.#connection() !== undefined;
  }

  /** Throws a `ConnectionError` while detached. */
  get connection(): Connection {
    const connection = this.#connection();
    if (connection !== undefined) return connection;
    throw new ConnectionError(`the consumer of ${this.#identity.topic} has no broker now`);
  }

  flow(messagePermits: number): void {
    this.#tell({ kind: "flow", body: { consumerId: this.#consumerId, messagePermits } });
  }

  send(group: AckGroup): void {
    for (const command of ackCommands(this.#consumerId, group)) this.#tell(command);
  }

  async request(group: AckGroup): Promise<void> {
    const { connection } = this;
    const answers = ackCommands(this.#consumerId, group).map(({ kind, body }) =>
      connection.request("ackResponse", (requestId) => ({ kind, body: { ...body, requestId } })),
    );
    for (const { error, message } of await this.#answered(connection, answers))
      if (error !== undefined) throw brokerErrorOf(error, message);
  }

  giveBackCorrupt(id: MessageIdData, validationError: ValidationErrorName): void {
    this.#tell(corruptAckCommand(this.#consumerId, id, validationError));
  }

  redeliver(messageIds: readonly MessageIdData[]): void {
    const consumerId = this.#consumerId;
    this.#tell({ kind: "redeliverUnacknowledged", body: { consumerId, messageIds } });
  }

  redeliverAll(consumerEpoch: bigint): void {
    const consumerId = this.#consumerId;
    this.#tell({ kind: "redeliverUnacknowledged", body: { consumerId, consumerEpoch } });
  }

  async seek(target: MessageId | number, signal: AbortSignal | undefined): Promise<void> {
    const place =
      target instanceof MessageId
        ? { messageId: target.toData() }
        : { messagePublishTime: BigInt(Math.floor(target)) };
    const consumerId = this.#consumerId;
    await this.connection.request(
      "success",
      (requestId) => ({ kind: "seek", body: { consumerId, requestId, ...place } }),
      { signal },
    );
  }

  async lastMessageId(signal: AbortSignal | undefined): Promise<MessageIdData> {
    const consumerId = this.#consumerId;
    const { lastMessageId } = await this.connection.request(
      "getLastMessageIdResponse",
      (requestId) => ({ kind: "getLastMessageId", body: { consumerId, requestId } }),
      { signal },
    );
    return lastMessageId;
  }

  async unsubscribe(signal: AbortSignal | undefined): Promise<void> {
    const consumerId = this.#consumerId;
    await this.connection.request(
      "success",
      (requestId) => ({ kind: "unsubscribe", body: { consumerId, requestId } }),
      { signal },
    );
  }

  /** Reports every end of a connection as a `ConnectionError`. */
  async #answered<T>(connection: Connection, answers: readonly Promise<T>[]): Promise<T[]> {
    try {
      return await Promise.all(answers);
    } catch (error) {
      if (connection.isOpen) throw error;
      throw new ConnectionError("the connection was lost", { cause: error });
    }
  }

  get #consumerId(): bigint {
    return this.#identity.consumerId;
  }

  #tell(command: Command): void {
    this.#connection()?.send(command);
  }
}

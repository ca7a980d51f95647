import type { CommandKind, CommandOf } from "@sluice/pulsar/wire";
import type { SessionParts } from "./session-parts.ts";

/** Hands a command of the client, other than SEND, to the part that serves it. */
export function onCommand(parts: SessionParts, command: CommandOf<CommandKind>): void {
  switch (command.kind) {
    case "connect":
      parts.handshake.connect(command.body);
      break;
    case "authResponse":
      parts.handshake.authResponse(command.body);
      break;
    case "ping":
      parts.outbox.send({ kind: "pong", body: {} });
      break;
    case "pong":
      break;
    case "producer":
      parts.producers.open(command.body);
      break;
    case "closeProducer":
      parts.producers.close(command.body);
      break;
    case "subscribe":
      parts.consumers.subscribe(command.body);
      break;
    case "flow":
      parts.consumers.flow(command.body);
      break;
    case "ack":
      parts.consumers.ack(command.body);
      break;
    case "redeliverUnacknowledged":
      parts.consumers.redeliver(command.body);
      break;
    case "closeConsumer":
      parts.consumers.close(command.body);
      break;
    case "lookup":
      parts.requests.lookup(command.body);
      break;
    case "partitionedMetadata":
      parts.requests.partitions(command.body);
      break;
    case "getTopicsOfNamespace":
      parts.requests.topics(command.body);
      break;
    case "getSchema":
      parts.requests.schema(command.body);
      break;
    case "getOrCreateSchema":
      parts.requests.newSchema(command.body);
      break;
    case "getLastMessageId":
      parts.requests.ofConsumer("lastMessageId", parts.consumers, command.body);
      break;
    case "unsubscribe":
    case "consumerStats":
      parts.requests.ofConsumer(command.kind, parts.consumers, command.body);
      break;
    case "seek":
      parts.requests.seek(parts.consumers, command.body);
      break;
    case "ackResponse":
    case "activeConsumerChange":
    case "authChallenge":
    case "connected":
    case "consumerStatsResponse":
    case "error":
    case "getLastMessageIdResponse":
    case "getOrCreateSchemaResponse":
    case "getSchemaResponse":
    case "getTopicsOfNamespaceResponse":
    case "lookupResponse":
    case "message":
    case "partitionedMetadataResponse":
    case "producerSuccess":
    case "reachedEndOfTopic":
    case "send":
    case "sendError":
    case "sendReceipt":
    case "success":
    case "topicMigrated":
      parts.outbox.close(`${command.kind} is a command that only brokers send`);
  }
}

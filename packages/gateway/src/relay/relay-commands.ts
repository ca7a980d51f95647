import { COMMANDS, CommandTable, decodeFrameBy } from "@sluice/pulsar/wire";
import type { CommandOf, Frame, UnknownCommand } from "@sluice/pulsar/wire";
import { slimReceipt, slimSend } from "./frames/slim-frames.ts";

/** Commands of clients that a relay looks into. All others are passed on by their bytes alone. */
const OF_CLIENTS = new CommandTable({
  connect: COMMANDS.connect,
  authResponse: COMMANDS.authResponse,
  ping: COMMANDS.ping,
  pong: COMMANDS.pong,
  send: COMMANDS.send,
  producer: COMMANDS.producer,
  closeProducer: COMMANDS.closeProducer,
  subscribe: COMMANDS.subscribe,
  unsubscribe: COMMANDS.unsubscribe,
  closeConsumer: COMMANDS.closeConsumer,
  lookup: COMMANDS.lookup,
});

/** Commands of brokers that a relay looks into. */
const OF_BROKERS = new CommandTable({
  connected: COMMANDS.connected,
  authChallenge: COMMANDS.authChallenge,
  ping: COMMANDS.ping,
  pong: COMMANDS.pong,
  sendReceipt: COMMANDS.sendReceipt,
  sendError: COMMANDS.sendError,
  producerSuccess: COMMANDS.producerSuccess,
  success: COMMANDS.success,
  error: COMMANDS.error,
  closeProducer: COMMANDS.closeProducer,
  closeConsumer: COMMANDS.closeConsumer,
  lookupResponse: COMMANDS.lookupResponse,
  topicMigrated: COMMANDS.topicMigrated,
});

/** A command of a client as a relay sees it: what it need not look into is `unknown`, with its type. */
export type ClientCommand =
  | CommandOf<
      | "connect"
      | "authResponse"
      | "ping"
      | "pong"
      | "send"
      | "producer"
      | "closeProducer"
      | "subscribe"
      | "unsubscribe"
      | "closeConsumer"
      | "lookup"
    >
  | UnknownCommand;

/** A command of a broker as a relay sees it. */
type BrokerCommand =
  | CommandOf<
      | "connected"
      | "authChallenge"
      | "ping"
      | "pong"
      | "sendReceipt"
      | "sendError"
      | "producerSuccess"
      | "success"
      | "error"
      | "closeProducer"
      | "closeConsumer"
      | "lookupResponse"
      | "topicMigrated"
    >
  | UnknownCommand;

export type ClientFrame = Frame<ClientCommand>;
export type BrokerFrame = Frame<BrokerCommand>;

/** PRODUCER, SEND or CLOSE_PRODUCER. */
export type ProducerFrame = Frame<CommandOf<"producer" | "send" | "closeProducer">>;

/** A SEND with its entry. */
export type SendFrame = Frame<CommandOf<"send">>;

export function isSend(frame: ClientFrame): frame is SendFrame {
  return frame.command.kind === "send";
}

export function isOfProducer(frame: ClientFrame): frame is ProducerFrame {
  const { kind } = frame.command;
  return kind === "send" || kind === "producer" || kind === "closeProducer";
}

export function decodeClientFrame(bytes: Buffer): ClientFrame {
  return slimSend(bytes) ?? decodeFrameBy(OF_CLIENTS, bytes);
}

export function decodeBrokerFrame(bytes: Buffer): BrokerFrame {
  return slimReceipt(bytes) ?? decodeFrameBy(OF_BROKERS, bytes);
}

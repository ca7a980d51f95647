import { connect } from "@sluice/pulsar";
import type { Client, ClientEvent, ClientOptions } from "@sluice/pulsar";
import type { ConnectorEvent, OpenContext } from "../open-context.ts";

/** How a connector reaches its brokers: the options of `connect` that a flow may set. */
export interface PulsarConnection extends Pick<
  ClientOptions,
  "token" | "authentication" | "tls" | "connectTimeoutMs" | "operationTimeoutMs" | "keepAliveMs"
> {
  /** `pulsar://host:6650` or `pulsar+ssl://host:6651`; several hosts are separated by commas. */
  readonly url: string;
}

/** The options of `connect` among those of a connector. */
export const CONNECTION_KEYS: readonly (keyof PulsarConnection)[] = [
  "url",
  "token",
  "authentication",
  "tls",
  "connectTimeoutMs",
  "operationTimeoutMs",
  "keepAliveMs",
];

/** Connects with the pipeline's time and chance, and tells what an operator should know. */
export function connectPulsar(
  connection: PulsarConnection,
  { timer, random, signal, tell }: OpenContext,
  onEvent: (event: ClientEvent) => void = () => undefined,
): Promise<Client> {
  const { url, token, authentication, tls } = connection;
  const { connectTimeoutMs, operationTimeoutMs, keepAliveMs } = connection;
  const options: ClientOptions = {
    token,
    authentication,
    tls,
    connectTimeoutMs,
    operationTimeoutMs,
    keepAliveMs,
    dependencies: { timer, random },
    onEvent: (event) => {
      onEvent(event);
      const told = connectorEventOf(event);
      if (told !== undefined) tell(told);
    },
  };
  return connect(url, options, signal);
}

/** The event of a client in a sentence; undefined if it changes nothing for an operator. */
function connectorEventOf(event: ClientEvent): ConnectorEvent | undefined {
  switch (event.type) {
    case "detached": {
      const { role, topic, reason, pauseMs } = event;
      const text = `the ${role} of ${topic} lost its broker: ${reason.message}; it attaches again in ${Math.ceil(pauseMs)} ms`;
      return { level: "warning", text };
    }
    case "reattached":
      return {
        level: "info",
        text: `the ${event.role} of ${event.topic} has a broker again: ${event.address}`,
      };
    case "ended":
      return {
        level: "error",
        text: `the broker refused the ${event.role} of ${event.topic}: ${event.reason.message}`,
      };
    case "discarded":
      return {
        level: "error",
        text: `message ${event.messageId.toString()} of ${event.topic} is damaged and was discarded: ${event.reason.message}`,
      };
    case "stuck":
      return {
        level: "warning",
        text: `the oldest of ${event.messages} messages to ${event.topic} has had no receipt for ${Math.round(event.waitedMs)} ms`,
      };
    case "connected":
    case "disconnected":
    case "resent":
    case "timedOut":
    case "throttled":
    case "unthrottled":
    case "unknownCommand":
      return undefined;
  }
}

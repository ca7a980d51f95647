import { SluiceError } from "@sluice/core";
import { ProtocolError } from "../../wire/protocol-error.ts";
import { BrokerError } from "../error/broker-error.ts";
import { ConnectionError } from "../error/connection-error.ts";
import { targetName } from "./connection-target.ts";
import type { ConnectionTarget } from "./connection-target.ts";

/** The peer closed the connection during the handshake, as a TLS port does without TLS. */
export function closedEarly(target: ConnectionTarget, cause: Error | undefined): ConnectionError {
  const hint = target.endpoint.isTls
    ? "is it a Pulsar broker?"
    : "is it a Pulsar broker without TLS? With TLS the URL begins with pulsar+ssl://";
  const what = "closed the connection before the handshake was done";
  return new ConnectionError(`${targetName(target)} ${what}; ${hint}`, { cause });
}

/** The peer does not speak Pulsar's protocol: often it is a web server. */
export function notABroker(target: ConnectionTarget, cause: SluiceError): ProtocolError {
  const what = "does not answer like a Pulsar broker, which listens at 6650, with TLS at 6651";
  return new ProtocolError(`${targetName(target)} ${what}: ${cause.message}`, { cause });
}

/** The broker refused CONNECT. Its text seldom says which credentials it wants. */
export function refusedHandshake(refusal: BrokerError, authMethodName: string): BrokerError {
  if (refusal.serverError !== "AuthenticationError") return refusal;
  const hint =
    authMethodName === "none"
      ? "no credentials were given; set token or authentication"
      : `are the credentials of the method "${authMethodName}" right, and still valid?`;
  return new BrokerError(refusal.serverError, `${refusal.words}; ${hint}`);
}

/** The network or the peer ended an open connection. */
export function lostConnection(
  target: ConnectionTarget,
  cause: Error | undefined,
): ConnectionError {
  return new ConnectionError(`the connection to ${targetName(target)} was lost`, { cause });
}

export function notReading(target: ConnectionTarget): ConnectionError {
  return new ConnectionError(`${targetName(target)} does not read what it is sent`);
}

/** An error of another kind, such as the reason of a signal or of a user's function, as its cause. */
export function givenUp(target: ConnectionTarget, error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  const what = `the connection to ${targetName(target)} was given up`;
  return new ConnectionError(what, { cause: error });
}

import type { SluiceError } from "@sluice/core";
import { ProtocolError } from "../../wire/protocol-error.ts";
import { BrokerError } from "./broker-error.ts";
import { ConnectionError } from "./connection-error.ts";
import { targetName } from "../connection/connection-target.ts";
import type { ConnectionTarget } from "../connection/connection-target.ts";

/** A peer hung up on us: what a broker with TLS does to who comes without. */
export function closedEarly(target: ConnectionTarget, cause: Error | undefined): ConnectionError {
  const hint = target.endpoint.isTls
    ? "is it a Pulsar broker?"
    : "is it a Pulsar broker without TLS? With TLS the URL begins with pulsar+ssl://";
  const what = "closed the connection before the handshake was done";
  return new ConnectionError(`${targetName(target)} ${what}; ${hint}`, { cause });
}

/** A peer said something that no broker says: often it is a web server. */
export function notABroker(target: ConnectionTarget, cause: SluiceError): ProtocolError {
  const what = "does not answer like a Pulsar broker, which listens at 6650, with TLS at 6651";
  return new ProtocolError(`${targetName(target)} ${what}: ${cause.message}`, { cause });
}

/** A broker does not want us. Its words seldom say what would be right. */
export function unwelcome(refusal: BrokerError, authMethodName: string): BrokerError {
  if (refusal.serverError !== "AuthenticationError") return refusal;
  const hint =
    authMethodName === "none"
      ? "no token was given, nor another proof that it takes"
      : "is the token right, and still valid?";
  return new BrokerError(refusal.serverError, `${refusal.words}; ${hint}`);
}

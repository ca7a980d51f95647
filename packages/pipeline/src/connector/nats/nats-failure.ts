import { ConnectorError } from "../connector-error.ts";

/** What only a change of settings, of the server or of ours, can end: by the name or the message of the error. */
const PERMANENT: readonly (readonly [RegExp, string])[] = [
  [
    /Authorization|Authentication/i,
    "mend user and pass, token or authenticator of the option connection",
  ],
  [/Permissions Violation/i, "give the user the right to this subject"],
  [
    /StreamNotFound|stream not found/i,
    "create the stream first, e.g. nats stream add orders --subjects 'orders.>'",
  ],
  [
    /JetStreamNotEnabled|jetstream (?:is )?not enabled/i,
    "start the server with JetStream: nats-server -js",
  ],
];
/** Of a publish that no stream answers; the client library takes it for a server without JetStream. */
const NO_STREAM = /NoResponders|no responders|JetStreamNotEnabled|jetstream is not enabled/i;

const MESSAGE_MAX = 200;

/** The error for whatever the client library has thrown; `subject` is what was published to. */
export function natsError(what: string, error: unknown, subject?: string): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const found = `${name} ${message}`;
  if (subject !== undefined && NO_STREAM.test(found))
    return new ConnectorError(
      `${what}: no stream takes the subject ${subject}; create one: nats stream add NAME --subjects '${subject}'; the server must have JetStream (nats-server -js)`,
      { cause: error },
    );
  const [, wayOut] = PERMANENT.find(([pattern]) => pattern.test(found)) ?? [];
  const shown = (message === "" ? name : message).slice(0, MESSAGE_MAX);
  return new ConnectorError(`${what}: ${shown}${wayOut === undefined ? "" : `; ${wayOut}`}`, {
    canHeal: wayOut === undefined,
    cause: error,
  });
}

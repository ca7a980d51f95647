import type { ServerResponse } from "node:http";
import type { IngestAnswer } from "./ingest-answers.ts";

/** Does nothing if the answer is out already, or its client has left. */
export function send(response: ServerResponse, answer: IngestAnswer): void {
  if (begin(response, answer)) response.end();
}

/** Writes all of an answer, without its end: a client has it, and the connection is not used for another one yet. */
export function begin(response: ServerResponse, { status, headers, body }: IngestAnswer): boolean {
  if (response.headersSent || response.destroyed) return false;
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(text) });
  response.write(text);
  return true;
}

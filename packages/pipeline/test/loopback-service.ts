import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the service has received it. */
export interface ServedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A service on a free port of this machine that keeps what it is sent. */
export interface LoopbackService {
  readonly url: string;
  readonly requests: readonly ServedRequest[];
  /** Requests whose answers are not complete. */
  readonly inFlight: number;
  /** Most of them at once. */
  readonly most: number;
  /** Connections so far. */
  readonly connections: number;
  answerBy(answer: Answer): void;
  close(): Promise<void>;
}

export type Answer = (request: ServedRequest, response: ServerResponse) => void;

export const ok: Answer = (_request, response) => void response.end();

export async function startService(answer: Answer = ok): Promise<LoopbackService> {
  const requests: ServedRequest[] = [];
  let answering = answer;
  let inFlight = 0;
  let most = 0;
  let connections = 0;
  const server = createServer((request, response) => {
    inFlight++;
    most = Math.max(most, inFlight);
    response.once("close", () => inFlight--);
    const pieces: Buffer[] = [];
    request.on("error", () => undefined);
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.once("end", () => {
      const { method = "", url = "", headers } = request;
      const served = { method, url, headers, body: Buffer.concat(pieces).toString() };
      requests.push(served);
      answering(served, response);
    });
  });
  server.on("connection", () => connections++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in?to=x`,
    requests,
    get inFlight() {
      return inFlight;
    },
    get most() {
      return most;
    },
    get connections() {
      return connections;
    },
    answerBy: (next) => {
      answering = next;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

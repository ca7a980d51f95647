import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A real server on this machine, for as long as a test needs it. */
export interface Loopback {
  readonly url: string;
  readonly server: Server;
  /** Requests that have come and whose answers are not complete. */
  readonly inFlight: () => number;
  /** Most of them at once. */
  readonly most: () => number;
  /** Requests so far. */
  readonly count: () => number;
  close(): Promise<void>;
}

/** Starts a server that answers by `answer`, whatever comes. */
export async function startLoopback(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Loopback> {
  let inFlight = 0;
  let most = 0;
  let count = 0;
  const server = createServer((request, response) => {
    inFlight++;
    count++;
    most = Math.max(most, inFlight);
    response.on("close", () => inFlight--);
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    server,
    inFlight: () => inFlight,
    most: () => most,
    count: () => count,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

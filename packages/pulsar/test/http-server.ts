import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Answers one request; an answer that never ends is possible, too. */
export type HttpAnswer = (request: HttpRequest, response: ServerResponse, url: string) => void;

/** An HTTP server on a free loopback port, with a record of what it was asked. */
export class HttpServer {
  readonly url: string;
  readonly requests: HttpRequest[] = [];
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start(answer: HttpAnswer): Promise<HttpServer> {
    const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const body = await bodyOf(request);
      const heard = { method: request.method ?? "", path: request.url ?? "", body };
      started.requests.push(heard);
      answer(heard, response, started.url);
    };
    const server = createServer((request, response) => void onRequest(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const started = new HttpServer(`http://127.0.0.1:${port}`, async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    return started;
  }

  close(): Promise<void> {
    return this.#close();
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

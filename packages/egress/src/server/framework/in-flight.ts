import type { Outcome, Permit } from "@sluice/core";

/** What is used of a connection; of `net.Socket` and of HTTP/2's stand-in for it. */
export interface ConnectionLike {
  readonly remoteAddress?: string | undefined;
  readonly destroyed?: boolean | undefined;
  once(event: "close", listener: () => void): unknown;
}

/** What is used of a request of node:http, node:http2 or a framework on them. */
export interface HttpRequestLike {
  readonly socket: ConnectionLike;
  readonly aborted?: boolean | undefined;
  /** What the framework takes for the client's address, if it has an opinion. */
  readonly ip?: string | undefined;
}

/** What is used of a response of node:http, node:http2 or a framework on them. */
export interface HttpResponseLike {
  statusCode: number;
  readonly writableFinished: boolean;
  setHeader(name: string, value: string): unknown;
  once(event: "close", listener: () => void): unknown;
  end(body: string): unknown;
}

/**
 * Ends permits when their response is out or their connection has gone.
 *
 * A response that waits for its turn on a pipelined connection never hears that the connection has
 * closed, and a client that pipelines and leaves would keep its permits for ever: so the connection
 * is listened to as well, once, however many requests it carries.
 */
export class InFlight {
  readonly #byConnection = new WeakMap<ConnectionLike, Set<Permit>>();

  /** False if the client has gone already: the permit has ended, and the request need not be served. */
  end(permit: Permit, request: HttpRequestLike, response: HttpResponseLike): boolean {
    const { socket } = request;
    if (socket.destroyed === true) {
      permit.end("ignored");
      return false;
    }
    const permits = this.#permitsOf(socket);
    permits.add(permit);
    response.once("close", () => {
      permits.delete(permit);
      const isOut = response.writableFinished && request.aborted !== true;
      permit.end(isOut ? outcomeOf(response.statusCode) : "ignored");
    });
    return true;
  }

  #permitsOf(connection: ConnectionLike): Set<Permit> {
    const known = this.#byConnection.get(connection);
    if (known !== undefined) return known;
    const permits = new Set<Permit>();
    this.#byConnection.set(connection, permits);
    connection.once("close", () => {
      for (const permit of permits) permit.end("ignored");
    });
    return permits;
  }
}

/**
 * What an answer of ours says of our load. What was turned down took no real work, and a plain 500
 * says nothing: it may be one request that is always answered so, and a client that found it could shrink
 * the limit at will.
 */
export function outcomeOf(status: number): Outcome {
  if (status === 503 || status === 504) return "busy";
  return status < 400 ? "ok" : "ignored";
}

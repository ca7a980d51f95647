import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { ConfigError, SluiceError } from "@sluice/core";
import type { ConnectionCount } from "./connection-limits.ts";
import type { Descriptors } from "./descriptors.ts";
import type { ListenAddress } from "./listen-address.ts";

/** PEM texts. */
export interface TlsFiles {
  readonly cert: string | Uint8Array;
  readonly key: string | Uint8Array;
}

export interface ListenerOptions {
  readonly tls?: TlsFiles | undefined;
  /** Counts connections of all listeners. */
  readonly count: ConnectionCount;
  readonly descriptors: Descriptors;
  /** The system's own bound; connections beyond it are dropped without an answer. */
  readonly connectionsMax: number;
  readonly tlsHandshakeMs: number;
  /** A connection that is ready to be read. */
  readonly onSocket: (socket: Socket) => void;
  /** A connection too many. With TLS it has no way to hear why. */
  readonly onRefused: (socket: Socket, reason: string) => void;
  /** A connection could not be accepted, for lack of file descriptors for one. The next may be. */
  readonly onAcceptError: (error: Error) => void;
}

/** The broker cannot listen on an address. */
export class ListenError extends SluiceError {
  override readonly name = "ListenError";
  readonly code = "CONNECTION";
}

/** One address that clients connect to. */
export class Listener {
  readonly address: ListenAddress;
  readonly #server: Server;

  private constructor(address: ListenAddress, server: Server) {
    this.address = address;
    this.#server = server;
  }

  static async open(address: ListenAddress, options: ListenerOptions): Promise<Listener> {
    const server = serverFor(address, options);
    server.maxConnections = options.connectionsMax;
    try {
      server.listen({ host: address.host, port: address.port });
      await once(server, "listening");
    } catch (cause) {
      throw cannotListen(address, cause);
    }
    // It goes on listening: the system hands over the next one when there is room again.
    server.on("error", options.onAcceptError);
    const { port } = server.address() as AddressInfo;
    return new Listener({ ...address, port }, server);
  }

  /** Takes no more connections. Those that are there stay; it resolves once they are gone. */
  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
  }
}

function serverFor({ isTls }: ListenAddress, options: ListenerOptions): Server {
  const { tls, onSocket, onRefused, tlsHandshakeMs: handshakeTimeout } = options;
  if (!isTls)
    return createServer((socket) => {
      const refusal = enter(socket, options);
      if (refusal === undefined) onSocket(socket);
      else onRefused(socket, refusal);
    });
  if (tls === undefined) throw new ConfigError("pulsar+ssl needs a certificate and its key");
  try {
    const server = createTlsServer(
      { cert: toPem(tls.cert), key: toPem(tls.key), handshakeTimeout },
      onSocket,
    );
    // Before the handshake, which costs more than all that follows it.
    server.prependListener("connection", (socket: Socket) => {
      const refusal = enter(socket, options);
      if (refusal === undefined) return;
      onRefused(socket, refusal);
      socket.destroy();
    });
    // A handshake that fails ends its own socket and nothing else.
    server.on("tlsClientError", (_, socket) => socket.destroy());
    return server;
  } catch (cause) {
    // No details: an error about a key may quote it.
    throw new ConfigError(
      "the certificate and key cannot be used; both must be PEM texts",
      undefined,
      {
        cause,
      },
    );
  }
}

/** Counts a connection until it closes; if it is refused, answers the reason. */
function enter(socket: Socket, { count, descriptors }: ListenerOptions): string | undefined {
  const { remoteAddress = "" } = socket;
  const refusal = descriptors.refusalOf(socket) ?? count.tryEnter(remoteAddress);
  if (refusal === undefined) socket.once("close", () => count.leave(remoteAddress));
  return refusal;
}

function toPem(text: string | Uint8Array): string | Buffer {
  return typeof text === "string" ? text : Buffer.from(text);
}

export function cannotListen(
  { host, port }: Pick<ListenAddress, "host" | "port">,
  cause: unknown,
): ListenError {
  const { code = "" } = cause as NodeJS.ErrnoException;
  const why: Record<string, string> = {
    EADDRINUSE: "another program listens there; stop it, or choose another port",
    EADDRNOTAVAIL: "this machine has no such address",
    EACCES: "permission denied",
    ENOTFOUND: "there is no such host",
  };
  return new ListenError(`cannot listen on ${host}:${port}: ${why[code] ?? code}`, { cause });
}

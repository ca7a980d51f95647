import { ConfigError } from "@sluice/core";
import { connect as connectTcp, isIP } from "node:net";
import type { Socket } from "node:net";
import { connect as connectTls, createSecureContext } from "node:tls";
import type { Dial, Endpoint, Transport, TransportListener } from "./transport.ts";
import { unreachable } from "../error/unreachable.ts";

export interface TlsOptions {
  /** Certificates, as PEM, of whom to trust instead of those that Node trusts. */
  readonly ca?: string | Uint8Array | undefined;
  /** Our own certificate and its key, as PEM, for brokers that want to see one. */
  readonly cert?: string | Uint8Array | undefined;
  readonly key?: string | Uint8Array | undefined;
  /** Anybody between us and the broker can then read and change everything, the token included. */
  readonly dangerouslyAllowAnyCertificate?: boolean | undefined;
}

/** What may wait for the network before producers are told to wait. */
const WRITTEN_BYTES_MAX = 1_048_576;

/** When the system begins to ask whether a silent peer is still there. */
const TCP_KEEP_ALIVE_MS = 30_000;

/**
 * Opens sockets. With TLS the peer's certificate and name are checked before there is a transport,
 * so that not a byte, let alone a token, goes to somebody else.
 */
export function createSocketDial(tls: TlsOptions = {}): Dial {
  requirePem(tls);
  return (endpoint, signal) =>
    new Promise((resolve, reject: (reason: unknown) => void) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const socket = endpoint.isTls ? openTls(endpoint, tls) : openTcp(endpoint);
      const readyEvent = endpoint.isTls ? "secureConnect" : "connect";
      const onAbort = (): void => fail(signal.reason);
      const onReady = (): void => {
        stopListening();
        resolve(new SocketTransport(socket));
      };
      const onError = (error: Error): void => fail(unreachable(endpoint, error));
      const onClose = (): void => onError(new Error("it closed the connection at once"));
      const stopListening = (): void => {
        signal.removeEventListener("abort", onAbort);
        socket.off(readyEvent, onReady).off("error", onError).off("close", onClose);
      };
      const fail = (error: unknown): void => {
        stopListening();
        socket.on("error", ignore).destroy();
        reject(error);
      };
      signal.addEventListener("abort", onAbort);
      socket.once(readyEvent, onReady).once("error", onError).once("close", onClose);
    });
}

/** Node takes some things that are no certificates without a word, such as the name of a file. */
function requirePem({ ca, cert, key }: TlsOptions): void {
  for (const [name, pem] of Object.entries({ ca, cert, key }))
    if (pem !== undefined && !isPem(pem))
      throw new ConfigError(`tls.${name} is not PEM; it must be a file's content, not its name`);
  if (cert === undefined && key === undefined) return;
  try {
    createSecureContext({ cert: bufferOf(cert), key: bufferOf(key) });
  } catch (error) {
    const why = error instanceof Error ? error.message : "it is not known why";
    throw new ConfigError(`tls.cert and tls.key cannot be used together: ${why}`);
  }
}

function isPem(pem: unknown): boolean {
  const text = pem instanceof Uint8Array ? Buffer.from(pem).toString("latin1") : pem;
  return typeof text === "string" && text.includes("-----BEGIN ");
}

function bufferOf(pem: string | Uint8Array | undefined): Buffer | undefined {
  return pem === undefined ? undefined : Buffer.from(pem);
}

function openTcp({ host, port }: Endpoint): Socket {
  return connectTcp({ host, port, noDelay: true, keepAlive: true, ...KEEP_ALIVE_DELAY });
}

function openTls({ host, port }: Endpoint, options: TlsOptions): Socket {
  const { ca, cert, key, dangerouslyAllowAnyCertificate } = options;
  const socket = connectTls({
    host,
    port,
    // A certificate may be for an address, but an address is no server name.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ca: bufferOf(ca),
    cert: bufferOf(cert),
    key: bufferOf(key),
    minVersion: "TLSv1.2",
    rejectUnauthorized: dangerouslyAllowAnyCertificate !== true,
  });
  return socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_MS);
}

const KEEP_ALIVE_DELAY = { keepAliveInitialDelay: TCP_KEEP_ALIVE_MS };

/** A socket as a transport. What is written in one go of the program leaves in one go. */
class SocketTransport implements Transport {
  readonly #socket: Socket;
  #isCorked = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  start(listener: TransportListener): void {
    const socket = this.#socket;
    let cause: Error | undefined;
    socket
      .on("data", (bytes: Buffer) => listener.onData(bytes))
      .on("drain", () => listener.onDrain())
      .on("error", (error) => (cause = error))
      .on("end", () => socket.destroy())
      .on("close", () => listener.onClose(cause));
  }

  write(bytes: Uint8Array): boolean {
    const socket = this.#socket;
    if (!this.#isCorked) {
      this.#isCorked = true;
      socket.cork();
      process.nextTick(() => this.#uncork());
    }
    socket.write(bytes);
    // More than Node's own mark, which is so low that a single batch would reach it.
    return socket.writableLength < WRITTEN_BYTES_MAX;
  }

  close(): void {
    this.#socket.removeAllListeners().on("error", ignore).destroy();
  }

  #uncork(): void {
    this.#isCorked = false;
    this.#socket.uncork();
  }
}

/** What happens to a socket that was given up concerns nobody. */
function ignore(): void {}

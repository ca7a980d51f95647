import { ConfigError } from "@sluice/core";
import { addAbortListener, removeAbortListener } from "@sluice/core/internal";
import { connect as connectTcp, isIP } from "node:net";
import type { Socket } from "node:net";
import { connect as connectTls, createSecureContext } from "node:tls";
import type { Dial, Endpoint, Transport, TransportListener } from "./transport.ts";
import { dialError } from "./dial-error.ts";

export interface TlsOptions {
  /** CA certificates to trust, as PEM, instead of those that Node trusts. Default: the CAs of Node. */
  readonly ca?: string | Uint8Array | undefined;
  /** The client certificate, as PEM, for brokers that ask for one. Default: none. */
  readonly cert?: string | Uint8Array | undefined;
  /** The private key of `cert`, as PEM. Default: none. */
  readonly key?: string | Uint8Array | undefined;
  /**
   * Disables all certificate checks: anybody on the network can then read and change everything, credentials included.
   * Default: false.
   */
  readonly dangerouslyAllowAnyCertificate?: boolean | undefined;
}

/**
 * Unsent bytes of a socket, above which it is not writable. Raised, a slow broker costs more memory;
 * Node's own mark of 16 KiB would be reached by a single batch.
 */
const WRITTEN_BYTES_MAX = 1_048_576;

/** Idle time before the system's TCP keep-alive probes, in ms. */
const TCP_KEEP_ALIVE_MS = 30_000;

/**
 * Opens sockets. With TLS, the broker's certificate and host name are checked before the first byte,
 * so that no credentials reach an impostor.
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
      const abortListener = { handleEvent: (): void => fail(signal.reason) };
      const onReady = (): void => {
        stopListening();
        resolve(new SocketTransport(socket));
      };
      const onError = (error: Error): void => fail(dialError(endpoint, error));
      const onClose = (): void => onError(new Error("the connection was closed at once"));
      const stopListening = (): void => {
        removeAbortListener(signal, abortListener);
        socket.off(readyEvent, onReady).off("error", onError).off("close", onClose);
      };
      const fail = (error: unknown): void => {
        stopListening();
        socket.on("error", ignore).destroy();
        reject(error);
      };
      addAbortListener(signal, abortListener);
      socket.once(readyEvent, onReady).once("error", onError).once("close", onClose);
    });
}

/** Node accepts some wrong values silently, such as the name of a file. */
function requirePem({ ca, cert, key }: TlsOptions): void {
  for (const [name, pem] of Object.entries({ ca, cert, key }))
    if (pem !== undefined && !isPem(pem))
      throw new ConfigError(
        `tls.${name} is not PEM; give the content of the file, e.g. readFileSync("${name}.pem")`,
      );
  if (cert === undefined && key === undefined) return;
  try {
    createSecureContext({ cert: bufferOf(cert), key: bufferOf(key) });
  } catch (error) {
    const why = error instanceof Error ? error.message : "unknown reason";
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
    // An IP address must not be sent as the TLS server name.
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

/** A socket as a transport. Writes of one turn of the event loop leave in one system call. */
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

/** Errors of a socket that was given up. */
function ignore(): void {}

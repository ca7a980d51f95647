import { connect as connectTcp, isIP } from "node:net";
import type { Socket } from "node:net";
import { connect as connectTls, createSecureContext } from "node:tls";
import { ConfigError } from "@sluice/core";
import type { TlsOptions } from "@sluice/pulsar";

/** Where a socket is opened to: the address was checked, the host is the name in its certificate. */
export interface CheckedEndpoint {
  readonly host: string;
  readonly address: string;
  readonly port: number;
}

/** Opens a socket; with TLS, the certificate and the host's name are checked. Rejects with the cause. */
export type OpenSocket = (endpoint: CheckedEndpoint, signal: AbortSignal) => Promise<Socket>;

/** Idle time before the system's TCP keep-alive probes; ten seconds without an answer end the connection. */
const TCP_KEEP_ALIVE_MS = 15_000;

/** Opens sockets to brokers; with TLS if `tls` is given. */
export function createOpenSocket(tls: TlsOptions | undefined): OpenSocket {
  const openNow = tls === undefined ? openTcp : openTlsWith(tls);
  const readyEvent = tls === undefined ? "connect" : "secureConnect";
  return (endpoint, signal) =>
    new Promise((resolve, reject: (reason: unknown) => void) => {
      signal.throwIfAborted();
      const socket = openNow(endpoint);
      const onAbort = (): void => fail(signal.reason);
      const onReady = (): void => {
        stopListening();
        resolve(socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_MS));
      };
      const onClose = (): void => fail(new Error("the connection was closed at once"));
      const stopListening = (): void => {
        signal.removeEventListener("abort", onAbort);
        socket.off(readyEvent, onReady).off("error", fail).off("close", onClose);
      };
      const fail = (error: unknown): void => {
        stopListening();
        socket.on("error", () => {}).destroy();
        reject(error);
      };
      signal.addEventListener("abort", onAbort);
      socket.once(readyEvent, onReady).once("error", fail).once("close", onClose);
    });
}

function openTcp({ address, port }: CheckedEndpoint): Socket {
  return connectTcp({ host: address, port });
}

function openTlsWith(tls: TlsOptions): (endpoint: CheckedEndpoint) => Socket {
  const { ca, cert, key } = tls;
  const [caPem, certPem, keyPem] = [ca, cert, key].map((pem) => pem && Buffer.from(pem));
  try {
    createSecureContext({ ca: caPem, cert: certPem, key: keyPem });
  } catch (cause) {
    // No details: an error about a key may quote it.
    throw new ConfigError(
      "upstream.tls cannot be used; ca, cert and key must be PEM texts",
      undefined,
      {
        cause,
      },
    );
  }
  return ({ host, address, port }) =>
    connectTls({
      host: address,
      port,
      // The certificate must be for the name, whatever address it has. An IP address is no server name.
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ca: caPem,
      cert: certPem,
      key: keyPem,
      minVersion: "TLSv1.2",
      rejectUnauthorized: tls.dangerouslyAllowAnyCertificate !== true,
    });
}

import type { PeerSocket } from "../peer-socket.ts";

/** The part of Node's stream handle that starts and stops to read; not documented, the same since Node 0.10. */
interface StreamHandle {
  /** False once Node itself has stopped to read, because 64 KiB wait in the socket. */
  readonly reading?: boolean;
  readonly readStart?: () => number;
  readonly readStop?: () => number;
}

/**
 * Starts or stops to read a socket. After `pause` alone Node still reads up to 64 KiB and keeps them in the
 * socket, where no budget counts them: 1,000 paused connections would take 64 MiB beside the budget. A socket
 * without a handle, such as a simulated one, is only paused.
 */
export function setReading(socket: PeerSocket, isReading: boolean): void {
  const { _handle: handle } = socket as { readonly _handle?: StreamHandle | null };
  if (isReading) {
    // If Node itself has stopped the handle, `resume` starts it, and destroys the socket if the handle already reads
    // (EALREADY). Node stops TLS sockets that are paused here: one read may bring several records.
    if (handle?.reading !== false) handle?.readStart?.();
    socket.resume();
  } else {
    socket.pause();
    handle?.readStop?.();
  }
}

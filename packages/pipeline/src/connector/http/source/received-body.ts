import type { IncomingMessage } from "node:http";

/** The pieces of a body. Undefined if `onBytes` does not allow all of it, or the client has left. */
export function receivedBody(
  request: IncomingMessage,
  onBytes: (more: number) => boolean,
): Promise<readonly Buffer[] | undefined> {
  // Not by `for await`: leaving the loop would close the connection before the answer is out.
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    const onData = (piece: Buffer): void => {
      if (onBytes(piece.length)) {
        pieces.push(piece);
        return;
      }
      request.off("data", onData).resume();
      resolve(undefined);
    };
    request.on("data", onData);
    request.once("end", () => resolve(pieces));
    request.once("close", () => resolve(undefined));
  });
}

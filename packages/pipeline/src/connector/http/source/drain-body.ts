import type { IncomingMessage } from "node:http";
import type { Timer } from "@sluice/core";
import { Wait } from "../../wait.ts";

/**
 * Bytes of a refused body that are read and thrown away. Raised, a client that sends everything before it reads
 * learns of the refusal with a larger body, and a hostile one costs more of the network.
 */
const DRAINED_BYTES_MAX = 16_777_216;
/** Longest time of it, ms; the pause after which nginx gives up (`lingering_timeout`). */
const DRAIN_MS = 5_000;

const NEVER = new AbortController().signal;

/**
 * Reads the rest of a body and throws it away. A connection that is closed with unread bytes is reset, and a reset makes
 * the client lose an answer that it has not read. Answers whether the body ended within the bounds.
 */
export async function drainBody(request: IncomingMessage, timer: Timer): Promise<boolean> {
  if (request.complete || request.destroyed) return request.complete;
  const wait = new Wait(timer, DRAIN_MS, NEVER);
  let bytes = 0;
  const isWhole = await new Promise<boolean>((resolve) => {
    request.on("data", (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > DRAINED_BYTES_MAX) resolve(false);
    });
    request.once("end", () => resolve(true));
    request.once("close", () => resolve(request.complete));
    wait.signal.addEventListener("abort", () => resolve(false), { once: true });
  });
  wait.end();
  return isWhole;
}

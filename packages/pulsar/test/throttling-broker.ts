import { ThrottleCodec, THROTTLING_REASON } from "../src/wire/throttle.ts";
import type { ThrottlingReason } from "../src/wire/throttle.ts";
import type { PeerSession } from "./scripted-broker.ts";

export const CODEC: ThrottleCodec = new ThrottleCodec();

export interface ThrottleNotice {
  readonly producerId: bigint;
  /** A name, or a number on the wire. */
  readonly reason: ThrottlingReason | number;
  readonly pauseMs: number | bigint;
  readonly requestId?: bigint;
}

/** THROTTLE_PRODUCER from the scripted peer. */
export function throttle(
  session: PeerSession,
  { producerId, reason, pauseMs, requestId = 1n }: ThrottleNotice,
): void {
  session.tell(
    CODEC.encode({
      kind: "throttleProducer",
      body: {
        requestId,
        producerId,
        throttlingReason: typeof reason === "number" ? reason : THROTTLING_REASON[reason],
        pauseForMillis: BigInt(pauseMs),
      },
    }),
  );
}

/** The id of the producer of a topic on a connection. */
export function producerIdOf({ producers }: PeerSession, topic: string): bigint {
  for (const [id, name] of producers) if (name === topic) return id;
  throw new Error(`${topic} has no producer`);
}

/** Request ids of the receipts that a peer got, in order. */
export function receiptsOf({ heard }: PeerSession): bigint[] {
  return heard.flatMap((command) => {
    if (command.kind !== "unknown") return [];
    const decoded = CODEC.decode(command);
    return decoded?.kind === "throttleProducerReceipt" ? [decoded.body.requestId] : [];
  });
}

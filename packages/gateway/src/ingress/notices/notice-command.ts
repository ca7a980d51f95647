import { THROTTLING_REASON } from "@sluice/pulsar/sim";
import type { ThrottleCodec, UnknownCommand } from "@sluice/pulsar/wire";
import type { ThrottleNotice } from "./aware-connection.ts";

/** THROTTLE_PRODUCER as it goes over the wire. */
export function noticeCommand(codec: ThrottleCodec, notice: ThrottleNotice): UnknownCommand {
  const { requestId, producerId, reason, pauseMs } = notice;
  return codec.encode({
    kind: "throttleProducer",
    body: {
      requestId,
      producerId,
      throttlingReason: THROTTLING_REASON[reason],
      pauseForMillis: BigInt(pauseMs),
    },
  });
}

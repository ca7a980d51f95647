import { CompoundLimiter, MultiLevelLimiter } from "@sluice/core";
import type { Clock, Reason } from "@sluice/core";
import type { Loop } from "../measure.ts";
import { PLENTY } from "./limits.ts";
import { ACQUIRES_PER_TURN, Turns } from "./turns.ts";

const LEVELS: readonly Reason[] = ["topic-rate", "group-rate", "broker-rate"];
const MESSAGE_BYTES = 900;

export function threeLevelsCharge(): Loop {
  const turns = new Turns();
  const limiter = plentifulLimiter(turns.clock);
  return (count) => {
    let admitted = 0;
    for (let turn = 0; turn < count; turn += ACQUIRES_PER_TURN) {
      for (let i = 0; i < ACQUIRES_PER_TURN; i++) {
        if (limiter.chargeAndCheck(1, MESSAGE_BYTES)) admitted++;
      }
      turns.end();
    }
    return admitted;
  };
}

export function threeLevelsTryAcquire(): Loop {
  const turns = new Turns();
  const limiter = plentifulLimiter(turns.clock);
  return (count) => {
    let admitted = 0;
    for (let turn = 0; turn < count; turn += ACQUIRES_PER_TURN) {
      for (let i = 0; i < ACQUIRES_PER_TURN; i++) {
        if (limiter.tryAcquire(1, MESSAGE_BYTES)) admitted++;
      }
      turns.end();
    }
    return admitted;
  };
}

function plentifulLimiter(clock: Clock): MultiLevelLimiter {
  const rates = { messages: { rate: PLENTY }, bytes: { rate: PLENTY * MESSAGE_BYTES } };
  return new MultiLevelLimiter(
    LEVELS.map((reason) => new CompoundLimiter({ ...rates, reason, clock })),
  );
}

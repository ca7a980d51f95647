import { TokenBucket } from "@sluice/core";
import type { Clock } from "@sluice/core";
import { systemClock } from "@sluice/core/system";
import type { Loop } from "../measure.ts";
import { PLENTY } from "./limits.ts";
import { ACQUIRES_PER_TURN, Turns } from "./turns.ts";

export function tryAcquireCached(): Loop {
  const turns = new Turns();
  const bucket = plentifulBucket(turns.clock);
  return (count) => {
    let admitted = 0;
    for (let turn = 0; turn < count; turn += ACQUIRES_PER_TURN) {
      for (let i = 0; i < ACQUIRES_PER_TURN; i++) if (bucket.tryAcquire(1)) admitted++;
      turns.end();
    }
    return admitted;
  };
}

export function chargeCached(): Loop {
  const turns = new Turns();
  const bucket = plentifulBucket(turns.clock);
  return (count) => {
    let admitted = 0;
    for (let turn = 0; turn < count; turn += ACQUIRES_PER_TURN) {
      for (let i = 0; i < ACQUIRES_PER_TURN; i++) if (bucket.chargeAndCheck(1)) admitted++;
      turns.end();
    }
    return admitted;
  };
}

export function tryAcquireExact(): Loop {
  const bucket = plentifulBucket(systemClock);
  return (count) => {
    let admitted = 0;
    for (let i = 0; i < count; i++) if (bucket.tryAcquire(1)) admitted++;
    return admitted;
  };
}

export function chargeExact(): Loop {
  const bucket = plentifulBucket(systemClock);
  return (count) => {
    let admitted = 0;
    for (let i = 0; i < count; i++) if (bucket.chargeAndCheck(1)) admitted++;
    return admitted;
  };
}

function plentifulBucket(clock: Clock): TokenBucket {
  return new TokenBucket({ rate: PLENTY, clock });
}

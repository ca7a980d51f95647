import type { Loop } from "../measure.ts";
import type { KeyWalk } from "./key-walk.ts";

/** The least that a limiter could do: compare and take away. */
export function bareCounter(): Loop {
  const counter = { tokens: 1e15 };
  return (count) => {
    const before = counter.tokens;
    for (let i = 0; i < count; i++) {
      if (counter.tokens > 0) counter.tokens -= 1;
    }
    return before - counter.tokens;
  };
}

/** The least that an exact limiter must do: read the clock. */
export function bareClock(): Loop {
  return (count) => {
    let sum = 0;
    for (let i = 0; i < count; i++) sum += performance.now();
    return sum > 0 ? count : 0;
  };
}

/** The least that a limiter with keys could do. */
export function bareMap(walk: KeyWalk): Loop {
  const counters = new Map(walk.keys.map((key) => [key, { tokens: 1e15 }]));
  return (count) => {
    let taken = 0;
    for (let i = 0; i < count; i++) {
      const counter = counters.get(walk.next());
      if (counter !== undefined && counter.tokens > 0) {
        counter.tokens -= 1;
        taken++;
      }
    }
    return taken;
  };
}

import { ConfigError } from "@sluice/core";
import type { Reason } from "@sluice/core";
import { requireDuration, requireKnownKeys } from "@sluice/core/internal";
import { requireSettings, shown } from "../../check-options.ts";
import type { GateEvent, GateObserver, Held, Refused } from "./event.ts";

/** Why a call was limited, and how many warnings of its gate were suppressed before this one. */
export interface LimitedWarning {
  /** Name of the gate. */
  readonly gate: string;
  /** The call joined the queue, or it was refused. */
  readonly decision: "held" | "refused";
  readonly reason: Reason;
  /** The rate that held the call, by its name; undefined if no rate did. */
  readonly rate: string | undefined;
  /** The concurrency limit of the gate; undefined if it has none. */
  readonly limit: number | undefined;
  /** Calls in the queue. */
  readonly waiting: number;
  /** When to try again, in ms; undefined for a call that waits, and while it is not known. */
  readonly retryAfterMs: number | undefined;
  /** The gate only reports: the call ran at once. */
  readonly isShadow: boolean;
  /** Warnings of this gate that were suppressed since its last one. */
  readonly suppressed: number;
}

/** Receives a warning: `console.warn`, or a method of a logger. */
export type WarnFunction = (message: string, warning: LimitedWarning) => void;

export interface LimitedWarningOptions {
  /** The least time between two warnings of one gate, in ms. Default: 5000, as RFC 1858 has it. */
  readonly everyMs?: number;
}

const KEYS: ReadonlySet<string> = new Set(["everyMs"] satisfies (keyof LimitedWarningOptions)[]);

/** `rate_limit_secs = 5` of Vector's RFC 1858. Raised, a change of the reason shows later in the log. */
const EVERY_MS = 5000;

/**
 * Most gates whose last warning is remembered. Beyond it the gate that warned least recently is forgotten: its
 * next warning may come early, and its suppressed warnings are not counted.
 */
const GATES_MAX = 1000;

interface LastWarning {
  readonly atMs: number;
  suppressed: number;
}

/**
 * An observer that warns of calls that wait or are refused, at most once per gate in `everyMs`: the log of Vector's RFC
 * 1858. The first limited call of a gate warns at once.
 *
 * @example
 * const gate = createGate({ rate: "10/s", observers: warnWhenLimited(console.warn) });
 */
export function warnWhenLimited(
  warn: WarnFunction,
  options: LimitedWarningOptions = {},
): GateObserver {
  if (typeof warn !== "function")
    throw new ConfigError(
      `warnWhenLimited was given ${shown(warn)}; give it a function, such as console.warn`,
    );
  requireSettings("the options of warnWhenLimited", options, "everyMs: 5000");
  requireKnownKeys("warnWhenLimited", options, KEYS);
  const { everyMs = EVERY_MS } = options;
  requireDuration("everyMs", everyMs);
  const lastByGate = new Map<string, LastWarning>();

  return (event) => {
    if (!isLimited(event)) return;
    const { gate, atMs } = event;
    const last = lastByGate.get(gate);
    if (last !== undefined && atMs - last.atMs < everyMs) {
      last.suppressed++;
      return;
    }
    // Set anew, the gate is the last of the map; the first is the one that warned least recently.
    lastByGate.delete(gate);
    lastByGate.set(gate, { atMs, suppressed: 0 });
    const [oldest] = lastByGate.keys();
    if (lastByGate.size > GATES_MAX && oldest !== undefined) lastByGate.delete(oldest);
    const warning = warningOf(event, last?.suppressed ?? 0);
    warn(messageOf(warning), warning);
  };
}

function isLimited(event: GateEvent): event is Held | Refused {
  return event.type === "held" || event.type === "refused";
}

function warningOf(event: Held | Refused, suppressed: number): LimitedWarning {
  const { gate, type: decision, reason, rate, limit, waiting, isShadow } = event;
  const retryAfterMs = event.type === "refused" ? event.retryAfterMs : undefined;
  return { gate, decision, reason, rate, limit, waiting, retryAfterMs, isShadow, suppressed };
}

function messageOf(warning: LimitedWarning): string {
  const { gate, decision, reason, rate, limit, waiting, retryAfterMs } = warning;
  const done = decision === "held" ? "waits" : "was refused";
  const rateText = rate === undefined ? "" : ` of rate ${rate}`;
  const limitText = reason === "concurrency" && limit !== undefined ? `, limit ${limit}` : "";
  const againText =
    retryAfterMs === undefined ? "" : `, try again in ${Math.ceil(retryAfterMs)} ms`;
  const shadowText = warning.isShadow ? " (shadow mode: it ran)" : "";
  const suppressedText =
    warning.suppressed === 0 ? "" : `; ${warning.suppressed} such warnings suppressed`;
  return `request limited: a call of gate ${gate} ${done}, reason ${reason}${rateText}${limitText}, ${waiting} waiting${againText}${shadowText}${suppressedText}`;
}

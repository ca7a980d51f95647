import { wholeLimitOf } from "./state.ts";
import type { Probe, Ruling, State } from "./state.ts";

/** Whether an attempt with that number in flight belongs to the probe under way. */
export function isProbe(state: State, inFlightAtStart: number): boolean {
  const out = probeOf(state)?.out ?? 0;
  return out > 0 && inFlightAtStart > wholeLimitOf(state);
}

/** An attempt of `weight` starts: it is part of the probe if it goes beyond the limit. */
export function onProbeStart(state: State, inFlight: number, weight: number): State {
  const probe = probeOf(state);
  if (probe === undefined || probe.left === 0 || inFlight <= wholeLimitOf(state)) return state;
  const left = Math.max(0, probe.left - weight);
  return { ...state, phase: { name: "cruise", probe: { ...probe, left, out: probe.out + 1 } } };
}

/** An attempt of the probe was served. The limit takes the step once all of them were. */
export function onProbeServed(state: State, maxLimit: number): Ruling {
  const probe = probeOf(state);
  if (probe === undefined) return { state, cause: undefined, window: "keep" };
  const out = probe.out - 1;
  if (out > 0 || probe.left > 0) {
    const waiting: State = { ...state, phase: { name: "cruise", probe: { ...probe, out } } };
    return { state: waiting, cause: undefined, window: "keep" };
  }
  const { growth } = state;
  const limit = Math.min(maxLimit, state.limit + probe.step);
  const grown = { ...endProbe(state), limit, growth: { ...growth, streak: growth.streak + 1 } };
  return { state: grown, cause: "room", window: "settle" };
}

/** An attempt of the probe told nothing: no step, and what it tried counts as never tried. */
export function onProbeIgnored(state: State): Ruling {
  const triedUpTo = wholeLimitOf(state);
  return { state: endProbe(state), cause: undefined, window: "keep", triedUpTo };
}

/** The state without a probe. */
export function endProbe(state: State): State {
  if (probeOf(state) === undefined) return state;
  return { ...state, phase: { name: "cruise", probe: undefined } };
}

function probeOf({ phase }: State): Probe | undefined {
  return phase.name === "cruise" ? phase.probe : undefined;
}

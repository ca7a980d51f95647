import { spreadOf } from "../spread.ts";
import type { Spread } from "../spread.ts";
import { ALLOCATION, ONE_KEY_PEERS } from "./cases.ts";
import type { Results } from "./results.ts";

export interface Judged {
  readonly what: string;
  readonly goal: string;
  readonly measured: Spread;
  readonly met: boolean;
}

/** Smaller than any allocation that comes back even once a turn, larger than the observer's own. */
const NO_BYTES = 0.05;

/** The goals, each judged by the median of its rounds. */
export function judge(results: Results): readonly Judged[] {
  const peers = ONE_KEY_PEERS.map((name) => `one-key/${name}`);
  const toFastestPeer = results.ratioToFastest("one-key/cached", peers);
  return [
    atLeast(10, "one key, cached clock / fastest peer", toFastestPeer),
    atLeast(0.6, "one key, cached clock / counter", results.ratio("one-key/cached", "counter")),
    atLeast(0.8, "one key, exact clock / clock", results.ratio("one-key/exact", "clock")),
    atLeast(0.2, "3 levels, chargeAndCheck / counter", levels("levels-charge")),
    atLeast(0.2, "3 levels, tryAcquire / counter", levels("levels-try")),
    atLeast(0.9, "100,000 keys, cached clock / Map", results.ratio("many-keys/cached", "map")),
    atMost(64, "100,000 keys, bytes each", results.figure("memory/keyed", "bytes")),
    ...Object.entries(ALLOCATION).map(([name, { label }]) =>
      noBytes(`bytes, ${label}`, results.figure(`allocation/${name}`, "own")),
    ),
  ];

  function levels(name: string): readonly number[] {
    return results.ratio(`one-key/${name}`, "counter");
  }
}

function atLeast(goal: number, what: string, rounds: readonly number[]): Judged {
  const measured = spreadOf(rounds);
  return { what, goal: `≥ ${goal}`, measured, met: measured.median >= goal };
}

function atMost(goal: number, what: string, rounds: readonly number[]): Judged {
  const measured = spreadOf(rounds);
  return { what, goal: `≤ ${goal}`, measured, met: measured.median <= goal };
}

function noBytes(what: string, rounds: readonly number[]): Judged {
  const measured = spreadOf(rounds);
  return { what, goal: "0", measured, met: measured.median < NO_BYTES };
}

import type { Random } from "../random.ts";

/** Nearer to the edge than this part of it, growth goes by small steps. */
const NEAR = 0.3;
/** An edge is believed for so many round trips, and no longer than that time. */
const EDGE_ROUND_TRIPS = 100;
const EDGE_MAX_MS = 5000;
/** However long round trips are, growth is not held longer. */
const HOLD_MAX_MS = 30_000;

/** What stopped a limit. */
export type EdgeKind = "loss" | "queue";

/** When a limit may grow, and by how much: carefully around where it last had to stop. */
export class Growth {
  readonly #random: Random;
  #heldUntilMs = 0;
  #edge = 0;
  #edgeUntilMs = 0;
  #edgeKind: EdgeKind = "loss";
  /** Steps in a row that went well. */
  #streak = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  isHeld(nowMs: number): boolean {
    return nowMs < this.#heldUntilMs;
  }

  /** No growth for about so many round trips: not exactly, so that clients do not move together. */
  hold(nowMs: number, roundTrips: number, rttMs: number): void {
    const holdMs = Math.min(HOLD_MAX_MS, roundTrips * rttMs);
    this.#heldUntilMs = nowMs + holdMs * (0.75 + 0.5 * this.#random.next());
  }

  /** Nothing holds it any more. */
  release(): void {
    this.#heldUntilMs = 0;
    this.#edgeUntilMs = 0;
  }

  /**
   * The limit could not go beyond this. A loss says so exactly, and another one would be the price
   * for trying too much. A queue says it roughly, and costs only time.
   */
  stopAt(
    edge: number,
    kind: EdgeKind,
    { nowMs, rttMs }: { readonly nowMs: number; readonly rttMs: number },
  ): void {
    this.#edge = edge;
    this.#edgeKind = kind;
    this.#edgeUntilMs = nowMs + Math.min(EDGE_MAX_MS, EDGE_ROUND_TRIPS * rttMs);
    this.#streak = 0;
  }

  /** There is no room just now. */
  pause(): void {
    this.#streak = 0;
  }

  onStepTaken(): void {
    this.#streak++;
  }

  /** Whether it had to stop around here, not long ago. */
  isNearEdge(limit: number, nowMs: number): boolean {
    return nowMs < this.#edgeUntilMs && Math.abs(limit - this.#edge) < NEAR * this.#edge;
  }

  /**
   * How much more to try. Near an edge one, or half the root of the limit if it was a queue; away
   * from it twice the last step, up to half the limit.
   */
  step(limit: number, nowMs: number): number {
    if (this.isNearEdge(limit, nowMs)) {
      this.#streak = 0;
      return this.#edgeKind === "loss" ? 1 : Math.max(1, Math.floor(Math.sqrt(limit) / 2));
    }
    return Math.max(1, Math.floor(Math.min(2 ** (this.#streak + 1), limit / 2)));
  }
}

/**
 * How a pool divides what does not divide evenly. `rotate` hands the remainder out, one token
 * each to some members, other members every epoch: the shares add up to the whole, and even a
 * ceiling below the number of members flows. `floor` leaves it over.
 */
export type Division = "rotate" | "floor";

/** A member's place in its pool: `rank` counts from 0. */
export interface Seat {
  readonly poolSize: number;
  readonly rank: number;
}

/** Of `tokens` for the whole pool, those of one member in one epoch. */
export function shareOf(tokens: number, seat: Seat, epoch: number, division: Division): number {
  const { poolSize, rank } = seat;
  const even = Math.floor(tokens / poolSize);
  if (division === "floor") return even;
  const place = (rank + (((epoch % poolSize) + poolSize) % poolSize)) % poolSize;
  return place < tokens % poolSize ? even + 1 : even;
}

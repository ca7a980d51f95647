/**
 * What happens to the remainder of ceiling ÷ members. `rotate` gives one token each to some members,
 * to others in the next epoch: the shares add up to the ceiling, and even a ceiling below the number
 * of members is used. `floor` leaves the remainder unused.
 */
export type Division = "rotate" | "floor";

/** A member's place in its pool: `rank` counts from 0. */
export interface Seat {
  readonly poolSize: number;
  readonly rank: number;
}

/** One member's part of the pool's `tokens` in one epoch: ⌊tokens ÷ poolSize⌋, or one more. */
export function shareOf(tokens: number, seat: Seat, epoch: number, division: Division): number {
  const { poolSize, rank } = seat;
  const even = Math.floor(tokens / poolSize);
  if (division === "floor") return even;
  const place = (rank + (((epoch % poolSize) + poolSize) % poolSize)) % poolSize;
  return place < tokens % poolSize ? even + 1 : even;
}

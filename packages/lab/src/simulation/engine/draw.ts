import type { Random } from "@sluice/core";

/** Exponential with mean 1. */
export function drawExponential(random: Random): number {
  return -Math.log(1 - random.next());
}

/** Log-normal with mean 1 and this coefficient of variation. */
export function drawLognormal(random: Random, cv: number): number {
  const variance = Math.log(1 + cv * cv);
  return Math.exp(Math.sqrt(variance) * drawNormal(random) - variance / 2);
}

function drawNormal(random: Random): number {
  return Math.sqrt(2 * drawExponential(random)) * Math.cos(2 * Math.PI * random.next());
}

import type { Random } from "@sluice/core";

/** Tells this process from any other: 128 random bits. */
export function nonceOf(random: Random): string {
  const digits = Array.from({ length: 4 }, () => Math.floor(random.next() * 2 ** 32));
  return digits.map((word) => word.toString(16).padStart(8, "0")).join("");
}

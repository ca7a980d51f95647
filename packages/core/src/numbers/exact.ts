/**
 * a × b ÷ c for whole numbers, rounded down, exact at any magnitude: in doubles while the product
 * fits, else in BigInt. A result beyond 2^53 comes back as the nearest double.
 */
export function mulDivFloor(a: number, b: number, c: number): number {
  const product = a * b;
  if (Math.abs(product) <= Number.MAX_SAFE_INTEGER) return floorDiv(product, c);
  const big = BigInt(a) * BigInt(b);
  const divisor = BigInt(c);
  const quotient = big / divisor;
  return Number(big < 0n && quotient * divisor !== big ? quotient - 1n : quotient);
}

/** By the remainder, which doubles compute exactly; a quotient of doubles may round up. */
function floorDiv(a: number, c: number): number {
  const remainder = a % c;
  const quotient = (a - remainder) / c;
  return remainder < 0 ? quotient - 1 : quotient;
}

export function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/**
 * Jain's index of fairness, (Σx)² ÷ (n × Σx²): 1 if all are equal, 1 ÷ n if one has everything.
 * Also 1 if all are 0.
 */
export function jainIndex(values: readonly number[]): number {
  const squares = sum(values.map((value) => value * value));
  return squares === 0 ? 1 : sum(values) ** 2 / (values.length * squares);
}

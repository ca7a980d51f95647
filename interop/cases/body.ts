import { createHash } from "node:crypto";

export interface Bodies {
  readonly keys?: number;
  readonly sizeBytes: number;
}

/**
 * What every driver puts into the message with this index: whose key it has, its place among those,
 * and its place among all. Messages take turns among the keys.
 */
export function bodyOf(index: number, { keys = 1, sizeBytes }: Bodies): Buffer {
  const header = { key: `k${index % keys}`, sequence: Math.floor(index / keys), index };
  return Buffer.from(JSON.stringify(header).padEnd(sizeBytes));
}

/** What a consumer says of the bodies if it got all of these, each unchanged. */
export function digestOf(indexes: Iterable<number>, bodies: Bodies): string {
  const digest = createHash("sha256");
  for (const index of indexes) digest.update(bodyOf(index, bodies));
  return digest.digest("hex");
}

/** The hash of a key, below 2^31; the same in every Pulsar client. */
export type KeyHash = (key: string) => number;

/** Java's `String.hashCode` over UTF-16: the default of most Pulsar clients. */
export const javaStringHash: KeyHash = (key) => {
  let hash = 0;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(31, hash) + key.charCodeAt(at);
  return hash & 0x7fff_ffff;
};

/** Murmur3 over UTF-8. */
export const murmur3Hash: KeyHash = (key) => murmur3(new TextEncoder().encode(key)) & 0x7fff_ffff;

/** The partition of a key. */
export function partitionOfKey(key: string, partitions: number, hash: KeyHash): number {
  return hash(key) % partitions;
}

const BLOCK_BYTES = 4;

/** Murmur3, 32 bits, seed 0, unsigned. */
export function murmur3(bytes: Uint8Array): number {
  const blocksEnd = bytes.length - (bytes.length % BLOCK_BYTES);
  let hash = 0;
  for (let at = 0; at < blocksEnd; at += BLOCK_BYTES) {
    hash ^= mixedBlock(bytes, at, at + BLOCK_BYTES);
    hash = Math.imul(rotatedLeft(hash, 13), 5) + 0xe6546b64;
  }
  hash ^= mixedBlock(bytes, blocksEnd, bytes.length);
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The bytes from `from` to `to`, at most four, lowest first. No bytes give 0. */
function mixedBlock(bytes: Uint8Array, from: number, to: number): number {
  let block = 0;
  for (let at = to - 1; at >= from; at -= 1) block = (block << 8) | (bytes[at] ?? 0);
  return Math.imul(rotatedLeft(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
}

function rotatedLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

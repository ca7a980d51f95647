// Frames that no peer should send, made of frames that real ones sent.
import { readFileSync } from "node:fs";

/** Whole frames between real clients and a real broker, each with its command and its sender. */
export function goldenFrames() {
  const golden = JSON.parse(readFileSync(new URL("golden-frames.json", import.meta.url), "utf8"));
  return golden.map(({ from, command, hex }) => ({
    from,
    command,
    bytes: Buffer.from(hex, "hex"),
  }));
}

/** A valid frame with some bytes changed, removed, doubled, or taken from another frame. */
export function mutated(random, valid) {
  const below = (limit) => Math.floor(random.next() * limit);
  const pick = (list) => list[below(list.length)];
  let bytes = Buffer.from(pick(valid));
  for (let count = below(6); count >= 0; count--) {
    const at = below(bytes.length + 1);
    const length = below(12);
    const parts = [
      () => [bytes.subarray(0, at), Buffer.from([below(256)]), bytes.subarray(at + 1)],
      () => [bytes.subarray(0, at), bytes.subarray(at + length)],
      () => [bytes.subarray(0, at + length), bytes.subarray(at)],
      () => [bytes.subarray(0, at), Buffer.from(pick(STRANGE), "hex"), bytes.subarray(at)],
      () => [bytes.subarray(0, at), pick(valid).subarray(below(40))],
    ];
    bytes = Buffer.concat(pick(parts)());
  }
  // Most changes break the lengths before anything else: half of the frames get right ones again.
  if (below(2) === 0 && bytes.length >= 8) {
    bytes.writeUInt32BE(bytes.length - 4, 0);
    if (below(2) === 0) bytes.writeUInt32BE(Math.min(bytes.readUInt32BE(4), bytes.length - 8), 4);
  }
  return bytes;
}

/** Numbers at the edges: of varints, of lengths, of signs. */
const STRANGE = [
  "ffffffffffffffffff01",
  "ffffffffffffffffffff01",
  "ffffffff0f",
  "80",
  "00",
  "0b0b0b",
  "7fffffff",
];

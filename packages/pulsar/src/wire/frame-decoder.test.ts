import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameDecoder } from "./frame-decoder.ts";
import { ProtocolError } from "./protocol-error.ts";

const frameOf = (body: Uint8Array): Buffer => {
  const frame = Buffer.alloc(8 + body.length);
  frame.writeUInt32BE(4 + body.length, 0);
  frame.set(body, 8);
  return frame;
};

const framesOf = (decoder: FrameDecoder): Buffer[] => {
  const frames: Buffer[] = [];
  for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) frames.push(frame);
  return frames;
};

const bodies = fc.array(fc.uint8Array({ maxLength: 3_000 }), { minLength: 1, maxLength: 8 });

test("any chunking of the same bytes gives the same frames", () => {
  fc.assert(
    fc.property(bodies, fc.array(fc.integer({ min: 1, max: 2_000 })), (sent, cuts) => {
      const frames = sent.map(frameOf);
      const stream = Buffer.concat(frames);
      const decoder = new FrameDecoder();
      const found: Buffer[] = [];
      let offset = 0;
      for (const cut of [...cuts, stream.length]) {
        decoder.push(Buffer.from(stream.subarray(offset, offset + cut)));
        offset += cut;
        found.push(...framesOf(decoder));
      }
      expect(found).toEqual(frames);
      expect(decoder.bufferedBytes).toBe(0);
    }),
  );
});

test("bytes that come one at a time give the same frames", () => {
  const frames = [frameOf(Buffer.from("one")), frameOf(Buffer.alloc(3_000, 7))];
  const decoder = new FrameDecoder();
  const found: Buffer[] = [];
  for (const byte of Buffer.concat(frames)) {
    decoder.push(Buffer.from([byte]));
    found.push(...framesOf(decoder));
  }
  expect(found).toEqual(frames);
});

test("frames that are not taken wait, also those of later chunks", () => {
  fc.assert(
    fc.property(bodies, fc.array(fc.boolean()), (sent, asks) => {
      const frames = sent.map(frameOf);
      const decoder = new FrameDecoder();
      const found: Buffer[] = [];
      frames.forEach((frame, index) => {
        decoder.push(frame.subarray(0, 5));
        decoder.push(frame.subarray(5));
        const next = asks[index] ? decoder.next() : undefined;
        if (next !== undefined) found.push(next);
      });
      const total = frames.reduce((sum, frame) => sum + frame.length, 0);
      expect(decoder.bufferedBytes).toBe(
        total - found.reduce((sum, { length }) => sum + length, 0),
      );
      expect([...found, ...framesOf(decoder)]).toEqual(frames);
    }),
  );
});

test("a frame within one chunk is not copied", () => {
  const chunk = Buffer.concat([frameOf(Buffer.from("a")), frameOf(Buffer.from("b"))]);
  const decoder = new FrameDecoder();
  decoder.push(chunk);
  for (const frame of framesOf(decoder)) expect(frame.buffer).toBe(chunk.buffer);
});

test.each([0, 3, 1_021, 2 ** 31, 2 ** 32 - 1])(
  "a header that announces %i bytes is refused before anything is reserved",
  (announced) => {
    const header = Buffer.alloc(4);
    header.writeUInt32BE(announced);
    for (const pieces of [[header], [...header].map((byte) => Buffer.from([byte]))]) {
      const decoder = new FrameDecoder({ frameBytesMax: 1_024 });
      const before = process.memoryUsage().arrayBuffers;
      for (const piece of pieces) decoder.push(piece);
      expect(() => decoder.next()).toThrow(ProtocolError);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_048_576);
    }
  },
);

test("the smallest and the largest frame pass", () => {
  const decoder = new FrameDecoder({ frameBytesMax: 1_024 });
  decoder.push(frameOf(Buffer.alloc(0)));
  decoder.push(frameOf(Buffer.alloc(1_016)));
  expect(framesOf(decoder).map(({ length }) => length)).toEqual([8, 1_024]);
});

test("a frame that is announced and does not come takes no more memory than the received bytes", () => {
  const decoder = new FrameDecoder();
  const header = Buffer.alloc(4);
  header.writeUInt32BE(5_000_000);
  decoder.push(header);
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 1_000; count++) {
    decoder.push(Buffer.from([1]));
    expect(decoder.next()).toBeUndefined();
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_048_576);
});

test("a raised limit holds from the next frame on", () => {
  const decoder = new FrameDecoder({ frameBytesMax: 100 });
  const large = frameOf(Buffer.alloc(200));
  decoder.frameBytesMax = 300;
  decoder.push(large);
  expect(decoder.next()).toEqual(large);
});

test("a large frame that comes in pieces has the same bytes, and the frame behind it too", () => {
  const body = Buffer.from(Array.from({ length: 700_001 }, (_, index) => index % 251));
  const frames = [frameOf(body), frameOf(Buffer.from("next"))];
  const stream = Buffer.concat(frames);
  for (const pieceBytes of [3, 4_000, 65_536, 500_000]) {
    const decoder = new FrameDecoder();
    const found: Buffer[] = [];
    for (let at = 0; at < stream.length; at += pieceBytes) {
      decoder.push(Buffer.from(stream.subarray(at, at + pieceBytes)));
      found.push(...framesOf(decoder));
    }
    expect(found.map((frame, index) => frame.equals(frames[index] ?? EMPTY))).toEqual([true, true]);
    expect(decoder.heldBytes).toBe(0);
  }
});

const EMPTY = Buffer.alloc(0);

test("the memory of large frames that were dropped is free at once, and the decoder can go on", () => {
  const begun = frameOf(Buffer.alloc(5_000_000, 7)).subarray(0, -1);
  const decoders = Array.from({ length: 16 }, () => new FrameDecoder());
  for (const decoder of decoders)
    for (let at = 0; at < begun.length; at += 65_536) {
      decoder.push(begun.subarray(at, at + 65_536));
      expect(decoder.next()).toBeUndefined();
    }
  const before = process.memoryUsage.rss();
  for (const decoder of decoders) decoder.drop();
  // 16 frames of 5 MB. Buffers would be there until a garbage collection.
  expect(before - process.memoryUsage.rss()).toBeGreaterThan(60_000_000);
  for (const decoder of decoders) {
    expect([decoder.heldBytes, decoder.isWithinFrame]).toEqual([0, false]);
    decoder.push(frameOf(Buffer.from("next")));
    expect(framesOf(decoder)).toEqual([frameOf(Buffer.from("next"))]);
  }
});

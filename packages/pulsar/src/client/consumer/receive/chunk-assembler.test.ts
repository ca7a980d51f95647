import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ChunkAssembler } from "./chunk-assembler.ts";
import type { RawEntry } from "./incoming-entry.ts";

interface ChunkPlace {
  readonly uuid: string;
  readonly chunkId: number;
  readonly of: number;
  readonly totalBytes: number;
}

let entryId = 0n;

const chunk = (text: string, { uuid, chunkId, of, totalBytes }: ChunkPlace): RawEntry => ({
  id: { ledgerId: 1n, entryId: entryId++ },
  metadata: {
    producerName: "p",
    sequenceId: 1n,
    publishTime: 1n,
    uuid,
    chunkId,
    numChunksFromMsg: of,
    totalChunkMsgSize: totalBytes,
  },
  payload: Buffer.from(text),
  redeliveryCount: 0,
  ackSet: [],
});

const chunksOf = (text: string, uuid: string): RawEntry[] =>
  text
    .split("")
    .map((letter, chunkId, { length }) =>
      chunk(letter, { uuid, chunkId, of: length, totalBytes: length }),
    );

test("messages are assembled from the interleaved chunks of several producers", () => {
  const words = ["ab", "cdefg", "hij"];
  fc.assert(
    fc.property(fc.array(fc.nat(2), { size: "large" }), (turns) => {
      const assembler = new ChunkAssembler({ messageBytesMax: 5 });
      const left = words.map((word) => chunksOf(word, word));
      const found = new Map<string, number>();
      // Whatever the turns leave out comes at the end.
      for (const turn of [...turns, ...[0, 1, 2].flatMap((word) => Array<number>(5).fill(word))]) {
        const next = left[turn]?.shift();
        if (next === undefined) continue;
        const assembly = assembler.add(next);
        if (assembly.kind !== "complete") expect(assembly.kind).toBe("incomplete");
        else found.set(assembly.raw.payload.toString(), assembly.chunkIds.length);
      }
      expect(found).toEqual(
        new Map([
          ["ab", 1],
          ["cdefg", 4],
          ["hij", 2],
        ]),
      );
    }),
  );
});

describe("incomplete messages are dropped", () => {
  test("if a chunk's predecessor is missing", () => {
    const assembler = new ChunkAssembler({ messageBytesMax: 10 });
    const [first, , third] = chunksOf("abc", "u");
    expect(assembler.add(first ?? expect.unreachable()).kind).toBe("incomplete");
    expect(assembler.add(third ?? expect.unreachable()).kind).toBe("stray");
  });

  test("if there are more bytes than announced", () => {
    const assembler = new ChunkAssembler({ messageBytesMax: 10 });
    const place = { uuid: "u", chunkId: 0, of: 3, totalBytes: 3 };
    expect(assembler.add(chunk("ab", place)).kind).toBe("incomplete");
    expect(assembler.add(chunk("cd", { ...place, chunkId: 1 })).kind).toBe("stray");
    expect(assembler.add(chunk("", { ...place, chunkId: 2 })).kind).toBe("stray");
  });

  test("if the message is too large", () => {
    const assembler = new ChunkAssembler({ messageBytesMax: 2 });
    const assemblies = chunksOf("abc", "u").map((each) => assembler.add(each));
    expect(assemblies.map(({ kind }) => kind)).toEqual(["incomplete", "incomplete", "too-large"]);
    expect(assemblies[2]).toMatchObject({ sizeBytes: 3, chunkIds: [{}, {}] });
  });

  test("if there are more chunks than any message has", () => {
    const assembler = new ChunkAssembler({ messageBytesMax: 1_000_000 });
    const place = { uuid: "u", of: 20_000, totalBytes: 20_000 };
    const kinds = Array.from({ length: 10_001 }, (_, chunkId) => {
      return assembler.add(chunk("a", { ...place, chunkId })).kind;
    });
    expect(kinds.slice(-2)).toEqual(["incomplete", "stray"]);
  });

  test("if too many are incomplete: the oldest first", () => {
    const assembler = new ChunkAssembler({ messageBytesMax: 10, incompleteMax: 2 });
    const all = ["u", "v", "w"].map((uuid) => chunksOf("ab", uuid));
    for (const [first] of all) assembler.add(first ?? expect.unreachable());
    const kinds = all.map(([, second]) => assembler.add(second ?? expect.unreachable()).kind);
    expect(kinds).toEqual(["stray", "complete", "complete"]);
  });
});

test("a redelivered message is assembled from its first chunk", () => {
  const assembler = new ChunkAssembler({ messageBytesMax: 10 });
  const [first] = chunksOf("ab", "u");
  assembler.add(first ?? expect.unreachable());
  const kinds = chunksOf("ab", "u").map((each) => assembler.add(each).kind);
  expect(kinds).toEqual(["incomplete", "complete"]);
});

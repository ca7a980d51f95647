import { Socket } from "node:net";
import fc from "fast-check";
import { encodeFrame } from "@sluice/pulsar/wire";
import { nextTurn } from "@sluice/core/system";
import { expect, test } from "vitest";
import { CountedByteBudget } from "../../memory/counted-byte-budget.ts";
import { FlushTurns } from "./turns/flush-turns.ts";
import { Outbound } from "./outbound.ts";

/** A socket that keeps what it is given. */
class KeptSocket extends Socket {
  readonly kept: Buffer[] = [];

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.kept.push(Buffer.from(chunk));
    done();
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer }[],
    done: (error?: Error | null) => void,
  ): void {
    for (const { chunk } of chunks) this.kept.push(Buffer.from(chunk));
    done();
  }
}

const PONG = encodeFrame({ kind: "pong", body: {} });

test("frames leave in the order in which they were written, whether or not they arrived together", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("frame" as const), bytes: fc.integer({ min: 1, max: 5_000 }) }),
    fc.constant({ kind: "skip" as const }),
    fc.constant({ kind: "command" as const }),
    fc.constant({ kind: "flush" as const }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.boolean(), async (steps, hasEnd) => {
      const memory = new CountedByteBudget(1e9, () => {});
      const socket = new KeptSocket();
      const turns = new FlushTurns(nextTurn);
      const outbound = new Outbound(socket, { turns, memory, onTaken: () => {} });
      const chunk = Buffer.from(Uint8Array.from({ length: 200_100 }, (_, at) => at % 251));
      const expected: Buffer[] = [];
      let at = 0;
      for (const one of steps) {
        if (one.kind === "frame") {
          const frame = chunk.subarray(at, at + one.bytes);
          at += one.bytes;
          expected.push(frame);
          expect(outbound.writeFrame(frame)).toBe(one.bytes);
        } else if (one.kind === "skip") at++;
        else if (one.kind === "flush") turns.flush();
        else {
          expected.push(PONG);
          outbound.write({ kind: "pong", body: {} }, undefined);
        }
      }
      if (hasEnd) outbound.end();
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      expect(Buffer.concat(socket.kept).equals(Buffer.concat(expected))).toBe(true);
      if (!hasEnd) expect([outbound.unreadBytes, memory.bytes]).toEqual([0, 0]);
      outbound.drop();
      expect(memory.bytes).toBe(0);
      socket.destroy();
    }),
  );
});

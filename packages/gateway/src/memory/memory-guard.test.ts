import fc from "fast-check";
import { expect, test } from "vitest";
import { CountedByteBudget } from "./counted-byte-budget.ts";
import { MemoryGuard } from "./memory-guard.ts";
import type { Holder } from "./memory-guard.ts";
import type { ByteUse } from "./byte-budget.ts";

const MIB = 1024 * 1024;
const KIB = 1024;

class Peer implements Holder {
  keptBytes = 0;
  closedFor: string | undefined;
  isHeldBack = false;
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
    scene.peers.add(this);
  }

  keep(bytes: number, use: ByteUse = "partial-frame"): void {
    this.keptBytes += bytes;
    this.#scene.budget.reserve(use, bytes);
    this.#scene.guard.relieve();
  }

  shed(reason: string): void {
    this.closedFor = reason;
    this.#scene.peers.delete(this);
    this.#scene.budget.release("partial-frame", this.keptBytes);
    this.keptBytes = 0;
  }

  holdBack(): void {
    this.isHeldBack = true;
  }
}

class Scene {
  readonly budget = new CountedByteBudget(16 * MIB, () => {});
  readonly peers = new Set<Peer>();
  readonly guard = new MemoryGuard(this.budget, this.peers);
}

test("bytes that peers keep never pass the bound, and a peer that keeps little stays", () => {
  const step = fc.record({ peer: fc.nat(99), bytes: fc.integer({ min: 1, max: MIB }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300, size: "max" }), (steps) => {
      const scene = new Scene();
      const honest = new Peer(scene);
      honest.keep(16 * KIB);
      const hostile = Array.from({ length: 100 }, () => new Peer(scene));
      for (const { peer, bytes } of steps) {
        // A peer that was closed comes back.
        if (hostile[peer]?.closedFor !== undefined) hostile[peer] = new Peer(scene);
        hostile[peer]?.keep(bytes);
        expect(scene.budget.isFull).toBe(false);
      }
      expect([honest.closedFor, honest.isHeldBack]).toEqual([undefined, false]);
      expect(scene.budget.peakBytes).toBeLessThanOrEqual(scene.budget.bytesMax);
      for (const peer of scene.peers) peer.shed("the end");
      expect(scene.budget.bytes).toBe(0);
    }),
  );
});

test("peers that keep the most are closed until SENDs need not wait any more", () => {
  const scene = new Scene();
  const peers = [2, 5, 1, 4, 2].map((mib) => {
    const peer = new Peer(scene);
    peer.keep(mib * MIB);
    return peer;
  });
  expect(peers.map(({ closedFor }) => closedFor !== undefined)).toEqual(Array(5).fill(false));
  const last = new Peer(scene);
  last.keep(1.5 * MIB);
  expect(peers.map(({ closedFor }) => closedFor !== undefined)).toEqual([
    false,
    true,
    false,
    false,
    false,
  ]);
  expect([last.closedFor, scene.budget.bytes]).toEqual([undefined, 10.5 * MIB]);
});

test("while entries that are being stored fill the memory no connection is closed, and none is read", () => {
  const scene = new Scene();
  const peers = [new Peer(scene), new Peer(scene)];
  peers[0]?.keep(14 * MIB, "publish");
  expect(peers.map(({ isHeldBack }) => isHeldBack)).toEqual([false, false]);
  peers[1]?.keep(1.5 * MIB, "publish");
  expect(peers.map(({ isHeldBack }) => isHeldBack)).toEqual([true, true]);
  expect(peers.map(({ closedFor }) => closedFor)).toEqual([undefined, undefined]);
});

test("above four fifths a new connection is refused, unless peers that keep much can be closed for it", () => {
  const stored = new Scene();
  new Peer(stored).keep(13 * MIB, "publish");
  expect(stored.guard.letsIn()).toBe(false);
  const begun = new Scene();
  const peers = Array.from({ length: 13 }, () => new Peer(begun));
  for (const peer of peers) peer.keep(MIB);
  expect(begun.guard.letsIn()).toBe(true);
  expect(peers.filter(({ closedFor }) => closedFor !== undefined).length).toBe(3);
  // A peer that keeps much is not closed if that does not help.
  const clients = new Scene();
  new Peer(clients).keep(13 * MIB, "clients");
  new Peer(clients).keep(MIB);
  expect([clients.guard.letsIn(), clients.peers.size]).toEqual([false, 2]);
  // Peers that keep little each are not closed.
  const many = new Scene();
  for (let count = 0; count < 13 * 64; count++) new Peer(many).keep(16 * KIB);
  expect([many.guard.letsIn(), many.peers.size]).toEqual([false, 13 * 64]);
});

test("a wait that takes long ends: peers that keep the most are closed for it, but not while entries are being stored", () => {
  const begun = new Scene();
  const peers = Array.from({ length: 25 }, () => new Peer(begun));
  for (const peer of peers) peer.keep(MIB / 2);
  expect([begun.budget.isExhausted, begun.peers.size]).toEqual([true, 25]);
  begun.guard.makeRoom();
  expect([begun.budget.isExhausted, begun.peers.size]).toEqual([false, 21]);
  begun.guard.makeRoom();
  expect(begun.peers.size).toBe(21);
  const stored = new Scene();
  new Peer(stored).keep(12.5 * MIB, "publish");
  stored.guard.makeRoom();
  expect([stored.budget.isExhausted, stored.peers.size]).toEqual([true, 1]);
});

import type { FleetEvent } from "@sluice/fleet";
import { messageOf } from "../../observe/message-of.ts";
import type { StoreEvent } from "../../observe/store-event.ts";

/** Tells once that the store of a limit is lost, and once that it is back. */
export class StoreNotice {
  readonly #target: string;
  readonly #unit: "messages" | "bytes";
  readonly #tell: (event: StoreEvent) => void;
  /** The last failure since the store has answered well. */
  #failure: string | undefined;
  #lostAtMs: number | undefined;
  #hasJoined = false;

  constructor(target: string, unit: "messages" | "bytes", tell: (event: StoreEvent) => void) {
    this.#target = target;
    this.#unit = unit;
    this.#tell = tell;
  }

  /** A sync that fails while the lease holds changes no share, so it is not told. */
  onEvent(event: FleetEvent, safeShare: number): void {
    if (event.type === "sync-failed") {
      this.#failure = messageOf(event.error);
      if (!this.#hasJoined) this.onLost(this.#failure, safeShare, event.atMs);
    } else if (event.type === "standing" && event.standing === "member") {
      this.#hasJoined = true;
      this.#failure = undefined;
      this.#onBack(event.atMs);
    } else if (event.type === "standing" && event.standing === "refused") {
      // Its share belongs to another gateway, or is free.
      this.#tellLost(`it refuses this gateway (${event.reason})`, 0, event.atMs);
    } else if (event.type === "standing" && event.standing === "lost") {
      this.onLost(this.#failure ?? event.reason, safeShare, event.atMs);
    }
  }

  onLost(reason: string, safeShare: number, nowMs: number): void {
    if (this.#lostAtMs === undefined) this.#tellLost(reason, safeShare, nowMs);
  }

  onNotStored(error: unknown): void {
    this.#tell({ kind: "limit-not-stored", ...this.#of(), reason: messageOf(error) });
  }

  /** While the store is lost its member warns that it has not answered, again and again. */
  onWarning(text: string): void {
    if (this.#lostAtMs !== undefined) return;
    this.#tell({ kind: "store-warning", target: this.#target, text });
  }

  #tellLost(reason: string, safeShare: number, nowMs: number): void {
    this.#lostAtMs ??= nowMs;
    this.#tell({ kind: "store-lost", ...this.#of(), reason, safeShare });
  }

  #onBack(nowMs: number): void {
    if (this.#lostAtMs === undefined) return;
    const afterMs = nowMs - this.#lostAtMs;
    this.#lostAtMs = undefined;
    this.#tell({ kind: "store-back", ...this.#of(), afterMs });
  }

  #of(): { readonly target: string; readonly unit: "messages" | "bytes" } {
    return { target: this.#target, unit: this.#unit };
  }
}

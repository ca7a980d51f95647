import type { FleetEvent } from "@sluice/fleet";
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

  /** One failed sync is nothing while a lease holds. */
  onEvent(event: FleetEvent, safeShare: number): void {
    if (event.type === "sync-failed") {
      this.#failure = messageOf(event.error);
      if (!this.#hasJoined) this.onLost(this.#failure, safeShare, event.atMs);
    } else if (event.type === "standing" && event.standing === "member") {
      this.#hasJoined = true;
      this.#failure = undefined;
      this.#onBack(event.atMs);
    } else if (event.type === "standing" && event.standing !== "joining") {
      this.onLost(this.#failure ?? event.reason, safeShare, event.atMs);
    }
  }

  onLost(reason: string, safeShare: number, nowMs: number): void {
    if (this.#lostAtMs !== undefined) return;
    this.#lostAtMs = nowMs;
    this.#tell({ kind: "store-lost", ...this.#of(), reason, safeShare });
  }

  onNotStored(error: unknown): void {
    this.#tell({ kind: "limit-not-stored", ...this.#of(), reason: messageOf(error) });
  }

  /** While the store is lost its member warns that it has not answered, again and again. */
  onWarning(text: string): void {
    if (this.#lostAtMs !== undefined) return;
    this.#tell({ kind: "store-warning", target: this.#target, text });
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

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

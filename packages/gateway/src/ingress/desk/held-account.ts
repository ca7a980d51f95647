import type { Reason } from "@sluice/core";
import type { ByteBudget } from "../../memory/byte-budget.ts";

/** What one connection may hold. */
export interface HeldBounds {
  /** Bytes of held items; undefined: by what all connections hold, see `HeldMemory`. */
  readonly heldBytesMax: number | undefined;
  /** Age of the oldest item of a producer. */
  readonly maxHoldMs: number;
  /** The same while another producer of the connection sends and does not wait. */
  readonly sharedHoldMs: number;
}

/** Hears when a connection must not be read, and when that reason has ended. */
export interface HeldListener {
  /** `topic` is the one whose item was too much. */
  pause(reason: Reason, topic: string, nowMs: number): void;
  /** `topic` is that of the `pause` which ends. */
  resume(reason: Reason, topic: string, nowMs: number): void;
  /** All connections together hold too much: this one, which has just added to it, must go. */
  overflow(): void;
}

/** Reading goes on at this part of a bound. At half of it, a slow limit would keep PINGs unread for longer than clients wait. */
const RESUME_PART = 7 / 8;

/** Bytes that go before reading goes on, at most: at 100 kB/s they take 20 s, and clients leave after 60 s without a PONG. */
const RESUME_BYTES_MAX = 2 * 1024 * 1024;

/** A producer would suffer from a pause if it has published within this time without waiting. */
const PASSED_MS = 1_000;

/** Held items of all connections take at most this part of the budget, so that others can publish. */
const PROCESS_PART = 1 / 2;

/**
 * A connection adds one frame before it is paused, so that a thousand connections with frames of 1 MiB
 * would take the whole budget and stop the SENDs of all others. Beyond this part it is closed instead:
 * its client sends again what had no receipt. With large frames that arrive, 1/4, some room is left.
 */
const OVERFLOW_PART = 5 / 8;

/** The same where other uses take more than usual: at 1 all SENDs would stop. Asked only above `PROCESS_PART`. */
const NEARLY_ALL = 7 / 8;

/** A connection that holds less is not closed for what others hold. */
const OVERFLOW_BYTES_MIN = 32_768;

/** Every connection may hold this much, whatever others hold, until the process bound is reached. */
const CONNECTION_LEAST = 16 * 1024 * 1024;

/** More than a client with default settings sends: 64 MiB of Java's, in messages of 1 KiB, take 100 MiB here. */
const CONNECTION_MOST = 128 * 1024 * 1024;

/**
 * The bound of a connection ÷ what is left of the room for held items. One connection alone can take 4/5 of that
 * room, 77 MiB by default; raised, less is left for the connections that come after it.
 */
const FREE_FACTOR = 4;

/** Bytes of SENDs that wait, and their bound. */
export interface HeldState {
  readonly bytes: number;
  /** Reading stops beyond it. */
  readonly maxBytes: number;
  /** Reading goes on from here down. */
  readonly resumeBytes: number;
}

/**
 * The bytes that all connections hold. A connection without a bound of its own may hold four times what is left
 * for all, as in the shared buffers of network switches (dynamic threshold): one client gets room for all
 * that it sends without a receipt, and several have to share.
 */
export class HeldMemory {
  readonly #budget: ByteBudget;
  readonly #full = new Set<HeldAccount>();

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get isFull(): boolean {
    return this.#budget.bytesOf("held") > this.#budget.bytesMax * PROCESS_PART;
  }

  /** Bytes that one connection may hold now. */
  get connectionBytesMax(): number {
    const left = this.#budget.bytesMax * PROCESS_PART - this.#budget.bytesOf("held");
    return Math.min(CONNECTION_MOST, Math.max(CONNECTION_LEAST, FREE_FACTOR * left));
  }

  /** What is held, where reading stops, and where it goes on. */
  get state(): HeldState {
    const maxBytes = this.#budget.bytesMax * PROCESS_PART;
    return {
      bytes: this.#budget.bytesOf("held"),
      maxBytes,
      resumeBytes: maxBytes * RESUME_PART,
    };
  }

  get isOverflowing(): boolean {
    const { bytes, bytesMax } = this.#budget;
    return this.#budget.bytesOf("held") > bytesMax * OVERFLOW_PART || bytes > bytesMax * NEARLY_ALL;
  }

  reserve(bytes: number): void {
    this.#budget.reserve("held", bytes);
  }

  release(bytes: number, nowMs: number): void {
    this.#budget.release("held", bytes);
    if (this.#full.size === 0) return;
    const { bytesMax } = this.#budget;
    if (this.#budget.bytesOf("held") > bytesMax * PROCESS_PART * RESUME_PART) return;
    const accounts = [...this.#full];
    this.#full.clear();
    for (const account of accounts) account.onMemory(nowMs);
  }

  /** Calls `onMemory` once there is room again. */
  whenFree(account: HeldAccount): void {
    this.#full.add(account);
  }

  forget(account: HeldAccount): void {
    this.#full.delete(account);
  }
}

/** A connection that holds more than it may, and because of what. */
interface FullAccount {
  readonly reason: Reason;
  readonly topic: string;
  /** Bytes at which reading goes on. */
  readonly resumeBytes: number;
}

/** The bytes that one connection holds. Says when it must not be read, for which reason. */
export class HeldAccount {
  readonly #bounds: HeldBounds;
  readonly #memory: HeldMemory;
  readonly #listener: HeldListener;
  /** When an item of the connection last went without waiting, which was no item of a flow that holds some. */
  passedAtMs: number = -Infinity;
  #bytes = 0;
  #full: FullAccount | undefined;
  /** The topic whose item found the memory full; undefined while no room is waited for. */
  #memoryTopic: string | undefined;

  constructor(bounds: HeldBounds, memory: HeldMemory, listener: HeldListener) {
    this.#bounds = bounds;
    this.#memory = memory;
    this.#listener = listener;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get state(): HeldState {
    const maxBytes = this.#bounds.heldBytesMax ?? this.#memory.connectionBytesMax;
    return {
      bytes: this.#bytes,
      maxBytes,
      resumeBytes: this.#full?.resumeBytes ?? resumeBytes(maxBytes),
    };
  }

  /** `reason`: why the item waits. The item is taken in any case: it was read. */
  add(bytes: number, reason: Reason, topic: string, nowMs: number): void {
    this.#bytes += bytes;
    this.#memory.reserve(bytes);
    const bytesMax = this.#bounds.heldBytesMax ?? this.#memory.connectionBytesMax;
    if (this.#full === undefined && this.#bytes > bytesMax) {
      this.#full = { reason, topic, resumeBytes: this.#resumeBytes(bytesMax, bytes) };
      this.#listener.pause(reason, topic, nowMs);
    }
    if (!this.#memory.isFull) return;
    if (this.#memoryTopic === undefined) {
      this.#memoryTopic = topic;
      this.#memory.whenFree(this);
      this.#listener.pause("memory", topic, nowMs);
    }
    if (this.#bytes >= OVERFLOW_BYTES_MIN && this.#memory.isOverflowing) this.#listener.overflow();
  }

  remove(bytes: number, nowMs: number): void {
    this.#bytes -= bytes;
    this.#memory.release(bytes, nowMs);
    const full = this.#full;
    if (full === undefined || this.#bytes > full.resumeBytes) return;
    this.#full = undefined;
    this.#listener.resume(full.reason, full.topic, nowMs);
  }

  #resumeBytes(bytesMax: number, added: number): number {
    if (this.#bounds.heldBytesMax !== undefined) return resumeBytes(bytesMax);
    // Others may have lowered the bound far below what is held, which would take long to go. As much as was added
    // must go, so that the connection does not grow beyond its bound frame by frame.
    const held = Math.max(bytesMax, this.#bytes - added);
    return Math.max(held / 2, Math.min(resumeBytes(held), held - added));
  }

  onMemory(nowMs: number): void {
    const topic = this.#memoryTopic;
    if (topic === undefined) return;
    this.#memoryTopic = undefined;
    this.#listener.resume("memory", topic, nowMs);
  }

  /** The age of an item from which its producer may not hold more. */
  holdMs(nowMs: number): number {
    const { maxHoldMs, sharedHoldMs } = this.#bounds;
    return nowMs - this.passedAtMs <= PASSED_MS ? sharedHoldMs : maxHoldMs;
  }

  /** A producer holds more than the age of its oldest item allows; `resume` follows. */
  pause(reason: Reason, topic: string, nowMs: number): void {
    this.#listener.pause(reason, topic, nowMs);
  }

  resume(reason: Reason, topic: string, nowMs: number): void {
    this.#listener.resume(reason, topic, nowMs);
  }

  /** The connection is gone, and all its flows are dropped. */
  end(): void {
    this.#memory.forget(this);
  }
}

/** Where reading goes on that stopped at this bound. */
function resumeBytes(bytesMax: number): number {
  return Math.max(bytesMax * RESUME_PART, bytesMax - RESUME_BYTES_MAX);
}

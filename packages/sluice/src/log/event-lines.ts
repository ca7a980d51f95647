import type { Clock, Timer } from "@sluice/core";
import { formatWallTime } from "@sluice/core/system";
import { describeEvent, eventJson } from "@sluice/gateway/admin";
import type { BrokerEvent } from "@sluice/gateway";
import type { TimedEvent } from "@sluice/gateway/admin";
import { levelOf } from "./event-level.ts";
import { SyncFailures } from "./sync-failures.ts";

type Kind = BrokerEvent["kind"];

/** Lines of one kind, and of one vertex, in one window; more are counted, so that a storm does not fill a disk. */
const LINES_MAX = 10;
const WINDOW_MS = 10_000;

/** Characters of one line, or of one text in JSON, which must stay whole; a client chooses names of up to 4 KiB. */
const LINE_CHARS_MAX = 1_000;

interface Window {
  readonly endsAtMs: number;
  lines: number;
  suppressed: number;
}

/** When lines are written. */
export interface LogWorld {
  readonly timer: Timer;
  readonly wallClock: Clock;
}

/**
 * Writes a line for each event, at most ten of one kind in ten seconds and one that counts the rest; failed syncs of
 * a vertex at most once in five seconds, with their count. A line of JSON has
 * `level`, `time` and `msg` as pino's lines do, the kind as `event`, and the facts of the event.
 */
export class EventLines {
  readonly #timer: Timer;
  readonly #wallClock: Clock;
  readonly #isJson: boolean;
  readonly #write: (line: string) => void;
  /** By kind, or by kind and subject. */
  readonly #windows = new Map<string, { readonly kind: Kind; readonly window: Window }>();
  readonly #syncFailures = new SyncFailures();
  readonly #closing = new AbortController();

  constructor({ timer, wallClock }: LogWorld, isJson: boolean, write: (line: string) => void) {
    this.#timer = timer;
    this.#wallClock = wallClock;
    this.#isJson = isJson;
    this.#write = write;
  }

  tell(timed: TimedEvent): void {
    const { event } = timed;
    const { kind } = event;
    const subject = "subject" in event ? event.subject : "";
    const failures = this.#failuresOf(kind, subject);
    if (failures === 0) return;
    const window = this.#windowOf(kind, subject);
    if (window.lines < LINES_MAX) {
      window.lines++;
      this.#write(this.#lineOf(timed, failures));
      return;
    }
    window.suppressed++;
    if (window.suppressed === 1) void this.#countAtEnd(kind, window);
  }

  /** Says what is still to be counted. */
  close(): void {
    this.#closing.abort();
    for (const { kind, window } of this.#windows.values()) this.#count(kind, window);
  }

  /** How many events a line tells of. */
  #failuresOf(kind: Kind, subject: string): number {
    if (kind === "vertex-sync-failed")
      return this.#syncFailures.onFailure(subject, this.#timer.now());
    if (kind === "vertex-sync-back") this.#syncFailures.onBack(subject);
    return 1;
  }

  #windowOf(kind: Kind, subject: string): Window {
    const nowMs = this.#timer.now();
    const key = `${kind} ${subject}`;
    const former = this.#windows.get(key)?.window;
    if (former !== undefined && nowMs < former.endsAtMs) return former;
    if (former !== undefined) this.#count(kind, former);
    const window = { endsAtMs: nowMs + WINDOW_MS, lines: 0, suppressed: 0 };
    this.#windows.set(key, { kind, window });
    return window;
  }

  async #countAtEnd(kind: Kind, window: Window): Promise<void> {
    try {
      await this.#timer.sleep(window.endsAtMs - this.#timer.now(), this.#closing.signal);
    } catch {
      return;
    }
    this.#count(kind, window);
  }

  #count(kind: Kind, window: Window): void {
    const { suppressed } = window;
    if (suppressed === 0) return;
    window.suppressed = 0;
    const msg = `${suppressed} more events of this kind within ${WINDOW_MS / 1000} s`;
    const time = formatWallTime(this.#wallClock.now());
    this.#write(
      this.#isJson
        ? JSON.stringify({ level: "warn", time, event: kind, suppressed, msg })
        : `${kind} ${msg}`,
    );
  }

  #lineOf({ atMs, event }: TimedEvent, failures: number): string {
    const time = formatWallTime(atMs);
    const more = failures === 1 ? "" : ` (${failures} syncs failed since the last line)`;
    const msg = describeEvent(event) + more;
    if (!this.#isJson) return `${time} ${event.kind} ${msg}`.slice(0, LINE_CHARS_MAX);
    const { kind, text: _text, level: _level, ...facts } = eventJson(event);
    const counted = failures > 1 && { failures };
    return JSON.stringify(
      { level: levelOf(event), time, event: kind, msg, ...facts, ...counted },
      shortened,
    );
  }
}

/** A line that is cut somewhere is no JSON, so its texts are cut. */
function shortened(_: string, value: unknown): unknown {
  return typeof value === "string" ? value.slice(0, LINE_CHARS_MAX) : value;
}

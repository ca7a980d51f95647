import type { Writable } from "node:stream";
import type { LiveMessages } from "../live-message.ts";
import type { LiveHistory } from "./live-history.ts";

/** Bytes that wait for one page; beyond it nothing is written, and samples are left out. */
const UNREAD_BYTES_MAX = 64 * 1024;

/** Characters of one message of the past. Larger ones would go over the bound of unread bytes by as much. */
const PAST_CHARACTERS_MAX = 48_000;
const PAST_SAMPLES_MAX = 40;

/** Changes that wait while a page does not read; beyond it the oldest are left out. */
const CHANGES_MAX = 256;

/**
 * One page that reads `/api/live`. What is sent is read from the history when the page has room, so that a page
 * that does not read costs its bound of unread bytes and nothing more.
 */
export class LiveStream {
  readonly #out: Writable;
  readonly #history: LiveHistory;
  /** The number of the next sample for this page. */
  #next = 0;
  /** Whether it has seen the past. */
  #isLive = false;
  #changes: string[] = [];
  /** Looks at a pool that are still to be sent, oldest first. */
  #poolPast: readonly string[] = [];
  #missed = { samples: 0, changes: 0 };

  constructor(out: Writable, history: LiveHistory) {
    this.#out = out;
    this.#history = history;
    out.on("drain", () => this.#catchUp());
  }

  /** To be called first: what the page is told before the past. */
  open(hello: string, changes: readonly string[], poolPast: readonly string[] = []): void {
    this.#poolPast = poolPast;
    this.#write("hello", hello);
    this.#write("changes", `[${changes.join(",")}]`);
    this.#catchUp();
  }

  /** There is a new sample in the history, with the details that this page asked for. */
  sample(details: readonly (readonly [keyof LiveMessages, string])[]): void {
    this.#catchUp();
    if (!this.#isLive) return;
    const { samples, next } = this.#history.slice(this.#next, 1);
    const [sample] = samples;
    if (sample === undefined) return;
    this.#next = next;
    if (!this.#hasRoom) {
      this.#missed.samples++;
      return;
    }
    this.#tellMissed();
    this.#write("sample", sample);
    for (const [name, detail] of details) this.#write(name, detail);
  }

  change(change: string): void {
    this.#changes.push(change);
    if (this.#changes.length > CHANGES_MAX) {
      this.#changes.shift();
      this.#missed.changes++;
    }
    this.#sendChanges();
  }

  /** Keeps proxies from closing a connection on which nothing comes. */
  beat(): void {
    if (this.#hasRoom) this.#out.write(": alive\n\n");
  }

  /** Sends the past as far as there is room. */
  #catchUp(): void {
    while (this.#poolPast.length > 0 && this.#hasRoom) {
      const looks = fitting(this.#poolPast);
      this.#poolPast = this.#poolPast.slice(looks.length);
      this.#write("poolPast", `[${looks.join(",")}]`);
    }
    while (!this.#isLive && this.#hasRoom) {
      const past = this.#nextPast();
      if (past.length === 0) this.#isLive = true;
      else this.#write("past", `[${past.join(",")}]`);
    }
    this.#sendChanges();
  }

  #nextPast(): readonly string[] {
    const { samples, next } = this.#history.slice(this.#next, PAST_SAMPLES_MAX);
    const fit = fitting(samples);
    this.#next = next - samples.length + fit.length;
    return fit;
  }

  #sendChanges(): void {
    if (!this.#isLive || !this.#hasRoom) return;
    this.#tellMissed();
    for (const change of this.#changes) this.#write("change", change);
    this.#changes = [];
  }

  #tellMissed(): void {
    const { samples, changes } = this.#missed;
    if (samples + changes === 0) return;
    this.#write("missed", JSON.stringify(this.#missed));
    this.#missed = { samples: 0, changes: 0 };
  }

  #write(name: keyof LiveMessages, data: string): void {
    this.#out.write(`event: ${name}\ndata: ${data}\n\n`);
  }

  get #hasRoom(): boolean {
    return !this.#out.destroyed && this.#out.writableLength < UNREAD_BYTES_MAX;
  }
}

/** The first of these texts that fit into one message; at least one. */
function fitting(texts: readonly string[]): readonly string[] {
  let characters = 0;
  const end = texts.findIndex((text, index) => {
    characters += text.length;
    return index > 0 && characters > PAST_CHARACTERS_MAX;
  });
  return end === -1 ? texts : texts.slice(0, end);
}

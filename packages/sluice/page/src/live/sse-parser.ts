/** One event of a `text/event-stream`. */
export interface SseEvent {
  readonly name: string;
  readonly data: string;
}

/** Characters of one event; a longer one is not ours, and the stream is given up. */
const EVENT_MAX = 4_000_000;

/** Puts the chunks of a `text/event-stream` together to events, however they were cut. */
export class SseParser {
  #rest = "";
  #name = "";
  #data: string[] = [];
  #size = 0;

  /** @throws RangeError if an event is longer than 4 million characters. */
  push(chunk: string): readonly SseEvent[] {
    const events: SseEvent[] = [];
    // A CR at the end may be the first half of a CRLF.
    const text = this.#rest + chunk;
    const end = text.endsWith("\r") ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? "") + text.slice(end);
    for (const line of lines) {
      const event = this.#line(line);
      if (event !== undefined) events.push(event);
    }
    if (this.#size + this.#rest.length > EVENT_MAX)
      throw new RangeError(`an event of the live stream is longer than ${EVENT_MAX} characters`);
    return events;
  }

  #line(line: string): SseEvent | undefined {
    if (line === "") return this.#end();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#name = value;
    if (field === "data") {
      this.#data.push(value);
      this.#size += value.length;
    }
    return undefined;
  }

  #end(): SseEvent | undefined {
    const event =
      this.#data.length === 0
        ? undefined
        : { name: this.#name === "" ? "message" : this.#name, data: this.#data.join("\n") };
    this.#name = "";
    this.#data = [];
    this.#size = 0;
    return event;
  }
}

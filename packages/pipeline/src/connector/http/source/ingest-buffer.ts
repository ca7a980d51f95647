import type { Message } from "../../../message.ts";

/** What became of a request's messages. */
export type IngestOutcome = "acknowledged" | "withdrawn" | "closed";

/** One request: it is answered when its last message is acknowledged, or before that when it cannot be. */
export class IngestRequest {
  readonly messages: readonly IngestMessage[];
  /** Messages without an acknowledgement. */
  left: number;
  isOver = false;
  readonly #onOver: (outcome: IngestOutcome) => void;

  constructor(contents: readonly Message[], onOver: (outcome: IngestOutcome) => void) {
    this.messages = contents.map((content) => new IngestMessage(content, this));
    this.left = this.messages.length;
    this.#onOver = onOver;
  }

  end(outcome: IngestOutcome): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#onOver(outcome);
  }
}

/** A message with the request that brought it. */
export class IngestMessage implements Message {
  readonly id: string;
  readonly value: unknown;
  readonly key: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly eventTimeMs: number | undefined;
  readonly #request: IngestRequest;
  #isAcked = false;

  constructor({ id, value, key, headers, eventTimeMs }: Message, request: IngestRequest) {
    this.id = id;
    this.value = value;
    this.key = key;
    this.headers = headers;
    this.eventTimeMs = eventTimeMs;
    this.#request = request;
  }

  /** The request that brought `message`; undefined if it was not made here. */
  static requestOf(message: object): IngestRequest | undefined {
    return #request in message ? message.#request : undefined;
  }

  /** Whether this is the first acknowledgement. */
  markAcked(): boolean {
    const isFirst = !this.#isAcked;
    this.#isAcked = true;
    return isFirst;
  }
}

/** Messages that came and were not read yet, bounded in number. */
export class IngestBuffer {
  readonly #countMax: number;
  /** In order of arrival; a set, so that a request can withdraw its messages from anywhere. */
  readonly #queued = new Set<IngestMessage>();
  /** Requests that are not over. */
  readonly #open = new Set<IngestRequest>();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  get queued(): number {
    return this.#queued.size;
  }

  get room(): number {
    return Math.max(0, this.#countMax - this.#queued.size);
  }

  /** Takes all messages of a request, or none. */
  offer(request: IngestRequest): boolean {
    if (request.messages.length > this.room) return false;
    this.#open.add(request);
    for (const message of request.messages) this.#queued.add(message);
    return true;
  }

  take(countMax: number): IngestMessage[] {
    const taken: IngestMessage[] = [];
    for (const message of this.#queued) {
      if (taken.length >= countMax) break;
      this.#queued.delete(message);
      taken.push(message);
    }
    return taken;
  }

  ack(messages: readonly Message[]): void {
    for (const message of messages) {
      const request = IngestMessage.requestOf(message);
      if (request === undefined || !(message as IngestMessage).markAcked()) continue;
      request.left--;
      if (request.left === 0) this.#end(request, "acknowledged");
    }
  }

  /** Messages are read again, behind those that wait; not those of a request that is over. */
  putBack(messages: readonly Message[]): void {
    for (const message of messages) {
      const request = IngestMessage.requestOf(message);
      if (request !== undefined && this.#open.has(request))
        this.#queued.add(message as IngestMessage);
    }
  }

  /** The request's client does not wait any more: what was not read is forgotten. */
  withdraw(request: IngestRequest): void {
    for (const message of request.messages) this.#queued.delete(message);
    this.#end(request, "withdrawn");
  }

  /** Ends all requests, read or not. */
  close(): void {
    this.#queued.clear();
    for (const request of this.#open) this.#end(request, "closed");
  }

  #end(request: IngestRequest, outcome: IngestOutcome): void {
    this.#open.delete(request);
    request.end(outcome);
  }
}

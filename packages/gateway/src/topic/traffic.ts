/** Messages and bytes since the topic was opened, and per second between the last two samples. */
export interface TrafficStats {
  readonly messages: number;
  readonly bytes: number;
  readonly messagesPerSecond: number;
  readonly bytesPerSecond: number;
}

const IDLE: TrafficStats = { messages: 0, bytes: 0, messagesPerSecond: 0, bytesPerSecond: 0 };

/** Counts messages and bytes. A rate is the difference of two samples, so counting reads no clock. */
export class Traffic {
  #messages = 0;
  #bytes = 0;
  #sampledAtMs: number;
  #sample = IDLE;

  constructor(nowMs: number) {
    this.#sampledAtMs = nowMs;
  }

  get stats(): TrafficStats {
    return { ...this.#sample, messages: this.#messages, bytes: this.#bytes };
  }

  add(messages: number, bytes: number): void {
    this.#messages += messages;
    this.#bytes += bytes;
  }

  /** Ends an interval: its mean is the rate until the next sample. */
  sample(nowMs: number): void {
    const seconds = (nowMs - this.#sampledAtMs) / 1000;
    if (seconds <= 0) return;
    const { messages, bytes } = this.#sample;
    this.#sample = {
      messages: this.#messages,
      bytes: this.#bytes,
      messagesPerSecond: (this.#messages - messages) / seconds,
      bytesPerSecond: (this.#bytes - bytes) / seconds,
    };
    this.#sampledAtMs = nowMs;
  }
}

export function sumOf(parts: readonly TrafficStats[]): TrafficStats {
  return parts.reduce(
    (sum, part) => ({
      messages: sum.messages + part.messages,
      bytes: sum.bytes + part.bytes,
      messagesPerSecond: sum.messagesPerSecond + part.messagesPerSecond,
      bytesPerSecond: sum.bytesPerSecond + part.bytesPerSecond,
    }),
    IDLE,
  );
}

/**
 * Fewest messages in flight with which a producer goes on. Raised, more of them wait at the broker if its limit is
 * low; lowered, it takes more round trips to use a high one again.
 */
const MESSAGES_MIN = 4;

/**
 * Growth of the window per stored message. With 1, two round trips of messages waited at a broker of 1,000/s whose
 * round trip takes 20 ms, because the window has doubled by the time that a throttle command comes.
 */
const GROWTH = 0.5;

/** For how long after a pause the window holds: in ms. A broker that is still short of tokens says so within that time. */
const LASTS_MS = 1_000;

/**
 * Bounds the messages in flight after a pause, as TCP does after a loss. A producer that has gathered a
 * thousand messages would else send all of them at once, and they would wait at the broker. The window
 * begins at half of what was in flight when the pause began, and grows by one for every two messages that are
 * stored: by half per round trip.
 */
export class RestartWindow {
  #messages = 0;
  #untilMs = -Infinity;
  #isSet = false;

  /** Whether it may bound anything. Cheap, for hot paths. */
  get isSet(): boolean {
    return this.#isSet;
  }

  /** A pause begins. */
  shrink(inFlight: number): void {
    this.#messages = Math.max(MESSAGES_MIN, Math.floor(inFlight / 2));
    this.#isSet = true;
  }

  /** The pause ends at this time, as far as is known. */
  endsAt(pauseEndMs: number): void {
    this.#untilMs = pauseEndMs + LASTS_MS;
  }

  /** Whether one more SEND may be written. One always may if none is in flight, however large it is. */
  hasRoom(inFlight: number, nowMs: number): boolean {
    if (!this.#isSet || inFlight < this.#messages) return true;
    if (nowMs < this.#untilMs) return false;
    this.clear();
    return true;
  }

  /** Outside of pauses. */
  onStored(messages: number): void {
    this.#messages += GROWTH * messages;
  }

  clear(): void {
    this.#isSet = false;
  }
}

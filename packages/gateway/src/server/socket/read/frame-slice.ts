import type { Frame } from "@sluice/pulsar/wire";

/** SENDs that are handed over between two looks at the clock; one takes some 5 µs. */
const SENDS_PER_LOOK = 8;

/** SENDs above this size take long enough for a look at the clock of their own. */
export const SEND_BYTES_PER_LOOK = 32_768;

/** Commands whose work is done after they were handed over, and how many of them one slice may start. */
const STARTS_WORK: ReadonlySet<string> = new Set([
  "producer",
  "subscribe",
  "unsubscribe",
  "seek",
  "getLastMessageId",
  "getSchema",
  "getOrCreateSchema",
]);
const STARTED_PER_SLICE = 8;

/** Commands above this size, such as a new schema, take a slice of their own: what they start takes long. */
const COMMAND_BYTES_PER_SLICE = 16_384;

/** The frames that a connection hands over in one slice of time. */
export class FrameSlice {
  readonly #isOver: () => boolean;
  #sends = 0;
  #started = 0;

  constructor(isOver: () => boolean) {
    this.#isOver = isOver;
  }

  /** Whether the clock was just looked at, so that other checks are due as well. */
  get isAtLook(): boolean {
    return this.#sends === 0;
  }

  /** Whether the slice ends with this frame, which was handed over. */
  endsWith({ command, bytes }: Frame): boolean {
    const isSend = command.kind === "send";
    if (isSend && ++this.#sends < SENDS_PER_LOOK && bytes.length < SEND_BYTES_PER_LOOK)
      return false;
    this.#sends = 0;
    if (STARTS_WORK.has(command.kind)) this.#started++;
    const isLarge = !isSend && bytes.length > COMMAND_BYTES_PER_SLICE;
    return this.#isOver() || isLarge || this.#started === STARTED_PER_SLICE;
  }
}

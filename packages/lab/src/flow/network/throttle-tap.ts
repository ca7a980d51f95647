import {
  decodeFrame,
  FRAME_PADDING_BYTES,
  FrameDecoder,
  MESSAGE_BYTES_MAX,
  ThrottleCodec,
} from "@sluice/pulsar/wire";
import type { Command } from "@sluice/pulsar/wire";
import type { WireTap } from "./wire-tap.ts";

/** Told of the throttle commands of a connection by the name of their producer. */
export interface TapListener {
  onNotice(producer: string): void;
  onReceipt(producer: string): void;
}

/** Where a frame begins its command, with the tag of its type, and the type of SEND. */
const COMMAND_AT = 8;
const TYPE_TAG = 8;
const SEND_TYPE = 6;

/** Notices without a receipt that are remembered; older ones are forgotten. */
const NOTICES_MAX = 10_000;

/**
 * Counts the throttle commands of one connection, and keeps those for deaf producers from the client:
 * a deaf producer goes on sending and answers nothing.
 */
export class ThrottleTap implements WireTap {
  readonly #codec = new ThrottleCodec();
  readonly #listener: TapListener;
  readonly #isDeaf: (producer: string) => boolean;
  readonly #decoder = new FrameDecoder({
    frameBytesMax: MESSAGE_BYTES_MAX + FRAME_PADDING_BYTES,
  });
  readonly #producers = new Map<bigint, string>();
  /** Producers of notices that wait for their receipts, by request id. */
  readonly #notices = new Map<bigint, string>();

  constructor(listener: TapListener, isDeaf: (producer: string) => boolean) {
    this.#listener = listener;
    this.#isDeaf = isDeaf;
  }

  onClientWrite(bytes: Buffer): void {
    if (isSend(bytes) || !isWhole(bytes)) return;
    const { command } = decodeFrame(bytes);
    if (command.kind === "producer") {
      const { producerId, producerName = "" } = command.body;
      this.#producers.set(producerId, producerName);
      return;
    }
    const receipt = this.#throttleOf(command);
    if (receipt?.kind !== "throttleProducerReceipt") return;
    const producer = this.#notices.get(receipt.body.requestId);
    if (producer === undefined) return;
    this.#notices.delete(receipt.body.requestId);
    this.#listener.onReceipt(producer);
  }

  onServerBytes(bytes: Buffer): Buffer {
    this.#decoder.push(bytes);
    const kept: Buffer[] = [];
    for (let frame = this.#decoder.next(); frame !== undefined; frame = this.#decoder.next())
      if (this.#keeps(decodeFrame(frame).command)) kept.push(frame);
    return Buffer.concat(kept);
  }

  #keeps(command: Command): boolean {
    const notice = this.#throttleOf(command);
    if (notice?.kind !== "throttleProducer") return true;
    const { requestId, producerId } = notice.body;
    const producer = this.#producers.get(producerId);
    if (producer === undefined) return true;
    this.#listener.onNotice(producer);
    if (this.#isDeaf(producer)) return false;
    this.#notices.set(requestId, producer);
    const [oldest] = this.#notices.keys();
    if (this.#notices.size > NOTICES_MAX && oldest !== undefined) this.#notices.delete(oldest);
    return true;
  }

  #throttleOf(command: Command): ReturnType<ThrottleCodec["decode"]> {
    return command.kind === "unknown" ? this.#codec.decode(command) : undefined;
  }
}

function isSend(bytes: Buffer): boolean {
  return bytes[COMMAND_AT] === TYPE_TAG && bytes[COMMAND_AT + 1] === SEND_TYPE;
}

/** Whether the write is one frame; parts of a SEND are not, but for a payload made to look like one. */
function isWhole(bytes: Buffer): boolean {
  return bytes.length > COMMAND_AT && bytes.readUInt32BE(0) === bytes.length - 4;
}

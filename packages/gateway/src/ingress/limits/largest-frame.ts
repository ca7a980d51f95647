import type { Cost } from "@sluice/core";
import { FRAME_PADDING_BYTES } from "@sluice/pulsar/sim";

/** Messages of this size at most are taken, also from a broker that says it has no bound, or a larger one. */
export const MESSAGE_BYTES_CEILING: number = 512 * 1024 * 1024;

/** The most that one SEND can cost. A number of messages is only said by the client, and more than this is refused by default. */
export const LARGEST_COST: Cost = {
  messages: 100_000,
  bytes: MESSAGE_BYTES_CEILING + FRAME_PADDING_BYTES,
};

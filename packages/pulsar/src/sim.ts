/** What simulations need of the wire: names, sizes and the words of PIP-385. No module of Node.js: `@sluice/pulsar/sim`. */
export { formatTopicName, parseTopicName } from "./topic-name.ts";
export { FRAME_PADDING_BYTES } from "./wire/frame.ts";
export { ThrottleCodec, THROTTLING_REASON } from "./wire/throttle.ts";

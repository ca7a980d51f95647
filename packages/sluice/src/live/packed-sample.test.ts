import { expect, test } from "vitest";
import type { LiveSample } from "./live-message.ts";
import { packSample, unpackSample } from "./packed-sample.ts";

const SAMPLE: LiveSample = {
  atMs: 1_794_979_323_832,
  pipelines: [
    {
      name: "orders",
      status: "running",
      vertices: [
        {
          name: "out",
          kind: "sink",
          connector: "http",
          rate: 0,
          droppedRate: 1.5,
          queue: undefined,
          inFlight: 3,
        },
      ],
    },
  ],
  waits: [],
  waitsLeftOut: 0,
};

test("a page reads from a packed sample what was packed", () => {
  const sent = JSON.stringify(packSample(SAMPLE));
  expect(unpackSample(JSON.parse(sent) as ReturnType<typeof packSample>)).toEqual(SAMPLE);
});

test("keys and texts that look like codes, repeated or not, come out as they were", () => {
  const texts = ["~0", "~~1", "~", "repeated text", "repeated text", "~repeated", "~repeated"];
  const odd = { ...SAMPLE, "0": 1, z9: [2, null], _0: { "": false }, queued: "_", texts };
  expect(unpackSample(packSample(odd))).toEqual(odd);
});

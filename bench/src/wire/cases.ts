import { decodeFrame, encodeSendFrame, FrameDecoder } from "@sluice/pulsar/wire";
import type { Loop } from "../measure.ts";
import * as bufbuild from "./peers/bufbuild.ts";
import * as protobufjs from "./peers/protobufjs.ts";
import { chunk, metadataOf, payload, routes } from "./sample.ts";

const byProducer = routes();

function decodeAndRoute(frame: Buffer): boolean {
  const { command } = decodeFrame(frame);
  if (command.kind !== "send") return false;
  const route = byProducer.get(command.body.producerId);
  if (route === undefined) return false;
  route.frames++;
  return true;
}

function encode(sequence: number): Buffer {
  const send = { producerId: 3n, sequenceId: BigInt(sequence), numMessages: 1 };
  return encodeSendFrame(send, metadataOf(sequence), payload);
}

/** By question and by who answers it. All cut frames with the same decoder and use one checksum. */
export const CASES: Readonly<Record<string, Readonly<Record<string, Loop>>>> = {
  "decode and route": {
    sluice: decoding(decodeAndRoute),
    protobufjs: decoding(protobufjs.decodeAndRoute),
    bufbuild: decoding(bufbuild.decodeAndRoute),
  },
  encode: {
    sluice: encoding(encode),
    protobufjs: encoding(protobufjs.encode),
    bufbuild: encoding(bufbuild.encode),
  },
};

function decoding(route: (frame: Buffer) => boolean): Loop {
  return (count) => {
    const decoder = new FrameDecoder();
    let done = 0;
    while (done < count) {
      decoder.push(chunk);
      for (let frame = decoder.next(); frame !== undefined; frame = decoder.next())
        if (done < count && route(frame)) done++;
    }
    return done;
  };
}

function encoding(encodeOne: (sequence: number) => Buffer): Loop {
  return (count) => {
    let done = 0;
    for (let sequence = 0; sequence < count; sequence++)
      if (encodeOne(sequence).length > payload.length) done++;
    return done;
  };
}

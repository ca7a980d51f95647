/** What `/api/live` sends of the quickstart's real flow. */
import { expect, test, vi } from "vitest";
import { unpackSample } from "../src/live/packed-sample.ts";
import type { PackedSample } from "../src/live/packed-sample.ts";
import { useFlow } from "./browser/running-flow.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const flow = useFlow();

/** Texts of the next samples. */
async function samplesOf(admin: string, count: number): Promise<readonly string[]> {
  const { body } = await fetch(`${admin}/api/live`);
  if (body === null) throw new Error("the answer has no body");
  const texts: string[] = [];
  let rest = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks)
      if (block.startsWith("event: sample\n")) texts.push(block.slice(block.indexOf("data: ") + 6));
    if (texts.length >= count) break;
  }
  return texts;
}

test("samples of seven producers and three vertices are shorter than 4 kB, and their rates are steady", async () => {
  const texts = await samplesOf(flow.admin, 30);
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(4_096);
  const samples = texts.map((text) => unpackSample(JSON.parse(text) as PackedSample));
  const { gateway, pipelines } = samples.at(-1) ?? {};
  expect(gateway?.producers).toHaveLength(7);
  expect(pipelines?.[0]?.vertices).toHaveLength(3);
  // Of the embedded broker, which needs no adminUrl.
  expect(pipelines?.[0]?.vertices[0]?.queue).toEqual(expect.any(Number));
  expect(pipelines?.[0]?.vertices[2]?.gate).toMatchObject({
    service: "payments",
    isAdaptive: true,
    bestRttMs: expect.any(Number) as number,
  });
  const read = samples.slice(14).map((sample) => sample.pipelines[0]?.vertices[1]?.rate ?? 0);
  // A batch of 50 messages more or less in three seconds, and what the ramp adds.
  for (const [index, rate] of read.slice(1).entries())
    expect(Math.abs(rate - (read[index] ?? 0))).toBeLessThan(60);
});

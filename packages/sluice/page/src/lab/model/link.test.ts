import { describe, expect, it } from "vitest";
import { LAB_KINDS } from "../kinds/kinds.ts";
import { packState, unpackState } from "./link.ts";
import { presetState } from "./state.ts";

/** A link with any content, packed as the page packs its own. */
async function link(value: unknown): Promise<string> {
  const stream = new Blob([JSON.stringify(value)])
    .stream()
    .pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `#lab1.${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

function nested(depth: number): object {
  let value = {};
  for (let i = 0; i < depth; i++) value = { a: value };
  return value;
}

describe("a link to the lab", () => {
  it("brings back both settings and the traffic of every preset", async () => {
    for (const kind of LAB_KINDS)
      for (const preset of kind.presets) {
        const state = presetState(kind, preset);
        const packed = await packState(state);
        expect(packed?.length).toBeLessThan(2_000);
        expect(await unpackState(`#${packed ?? ""}`)).toEqual(state);
      }
  });

  it("brings back a drawing to a thousandth of its peak", async () => {
    const [kind] = LAB_KINDS;
    const [preset] = kind?.presets ?? [];
    if (kind === undefined || preset === undefined) throw new Error("there is a preset");
    const state = {
      ...presetState(kind, preset),
      traffic: { shape: "drawn", peak: 100, values: [0, 0.1234, 1] },
    };
    expect((await unpackState(`#${(await packState(state)) ?? ""}`))?.traffic.values).toEqual([
      0, 0.123, 1,
    ]);
  });

  it.each([
    ["nothing", ""],
    ["another page's hash", "#main"],
    ["text that is not packed", "#lab1.????"],
    [
      "a kind that is none",
      link({ k: "x", t: { shape: "file", peak: 0, values: [] }, a: {}, b: {} }),
    ],
    [
      "scenarios of another tab",
      link({
        k: "ramp",
        t: { shape: "file", peak: 0, values: [] },
        a: { kind: "pool" },
        b: { kind: "pool" },
      }),
    ],
    [
      "a curve beyond its peak",
      link({
        k: "ramp",
        t: { shape: "drawn", peak: 1, values: [2] },
        a: { kind: "ramp" },
        b: { kind: "ramp" },
      }),
    ],
    [
      "a curve without end",
      link({
        k: "ramp",
        t: { shape: "drawn", peak: 1, values: Array.from({ length: 601 }, () => 0) },
        a: { kind: "ramp" },
        b: { kind: "ramp" },
      }),
    ],
    [
      "a scenario that is nested too deeply to be drawn",
      link({
        k: "ramp",
        t: { shape: "file", peak: 0, values: [] },
        a: { kind: "ramp", rateLimit: nested(3_000) },
        b: { kind: "ramp" },
      }),
    ],
    ["megabytes in a few bytes", link({ k: "ramp", t: "x".repeat(5_000_000), a: {}, b: {} })],
    ["more characters than a link has", `#lab1.${"A".repeat(20_000)}`],
  ])("refuses %s", async (_, hash) => {
    expect(await unpackState(await hash)).toBeUndefined();
  });
});

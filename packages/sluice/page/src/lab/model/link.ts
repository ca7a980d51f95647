import { LAB_KINDS } from "../kinds/kinds.ts";
import type { Document } from "./document.ts";
import { isShape } from "./shapes.ts";
import { valuesOf, withTraffic } from "./state.ts";
import type { LabState, Traffic } from "./state.ts";

/** Characters behind the #, and of what they unpack to. Both are checked on the way in: a link is anyone's text. */
const PACKED_MAX = 16_384;
const UNPACKED_MAX = 262_144;
/** Maps and lists within each other; scenarios have 6. A page that draws thousands runs out of its stack. */
const DEPTH_MAX = 20;
/** Seconds of a curve. */
const SECONDS_MAX = 600;
const PREFIX = "lab1.";

/** All settings and the traffic as the part of an address behind its #; undefined if that would be too long. */
export async function packState(state: LabState): Promise<string | undefined> {
  const { kind, traffic, a, b } = state;
  const isCurve = traffic.values.length > 0;
  // The curve stands in the link once, not in both scenarios as well.
  const bare = (document: Document): Document =>
    isCurve ? kind.withCurve(document, []) : document;
  const packed = await deflate(
    JSON.stringify({ k: kind.id, t: packedTraffic(traffic), a: bare(a), b: bare(b) }),
  );
  const text = PREFIX + base64url(packed);
  return text.length <= PACKED_MAX ? text : undefined;
}

/** The state of a link; undefined if it is none, is too long or says something that cannot be. */
export async function unpackState(hash: string): Promise<LabState | undefined> {
  const text = hash.replace(/^#/, "");
  if (!text.startsWith(PREFIX) || text.length > PACKED_MAX) return undefined;
  try {
    return stateOf(JSON.parse(await inflate(bytesOf(text.slice(PREFIX.length)))));
  } catch {
    return undefined;
  }
}

function stateOf(value: unknown): LabState | undefined {
  if (!isMap(value) || isDeeperThan(DEPTH_MAX, value)) return undefined;
  const kind = LAB_KINDS.find(({ id }) => id === value["k"]);
  const { a, b } = value;
  const traffic = trafficOf(value["t"]);
  if (kind === undefined || traffic === undefined || !isMap(a) || !isMap(b)) return undefined;
  const isOfTab = (document: Document): boolean =>
    kind.scenarios.some((name) => name === document["kind"]);
  if (!isOfTab(a) || !isOfTab(b)) return undefined;
  const state = { kind, traffic, a, b };
  return traffic.values.length === 0 ? state : withTraffic(state, traffic);
}

/** A named shape is its length; a drawing has a value for each second, to a thousandth of the peak. */
function packedTraffic({ shape, peak, values }: Traffic): Document {
  if (isNamed(shape)) return { shape, peak, seconds: values.length };
  return { shape, peak, values: values.map((value) => Math.round(value * 1000) / 1000) };
}

function isNamed(shape: string): boolean {
  return shape === "dip" || isShape(shape);
}

function trafficOf(value: unknown): Traffic | undefined {
  if (!isMap(value)) return undefined;
  const { shape, peak, values, seconds } = value;
  if (typeof shape !== "string" || shape.length > 20 || !isAmount(peak, 1e9)) return undefined;
  if (isNamed(shape) && isAmount(seconds, SECONDS_MAX))
    return { shape, peak, values: valuesOf(shape, Math.floor(seconds)) };
  if (!Array.isArray(values) || values.length > SECONDS_MAX) return undefined;
  const parts = values.filter((each): each is number => isAmount(each, 1));
  return parts.length === values.length ? { shape, peak, values: parts } : undefined;
}

function isAmount(value: unknown, most: number): value is number {
  return typeof value === "number" && value >= 0 && value <= most;
}

function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((each) => isDeeperThan(depth - 1, each));
}

function isMap(value: unknown): value is Document {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function deflate(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Stops as soon as there is more than may be: a few bytes can stand for gigabytes. */
async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += value;
    if (text.length > UNPACKED_MAX) {
      await reader.cancel();
      throw new Error("the link is too long");
    }
  }
}

function base64url(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}

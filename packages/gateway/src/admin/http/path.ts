import { HttpError } from "./http-error.ts";

/** The segments of a path, still encoded. Go's client loses double slashes, so empty ones do not count. */
export function segmentsOf(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/** A segment decoded by the rules of URLs. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new HttpError(400, `"${segment.slice(0, 80)}" in the path is not well encoded`);
  }
}

/** A segment decoded as Pulsar encodes names: as a form field, in which a plus sign is a space. */
export function decodeName(segment: string): string {
  return decodeSegment(segment.replaceAll("+", " "));
}

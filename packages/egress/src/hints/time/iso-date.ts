import { utcMs } from "./calendar.ts";
import { HINT_MAX_CHARS } from "./decimal.ts";

/** A date and time of RFC 3339: the part of ISO 8601 that services send. */
const FORM =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

const MINUTE_MS = 60_000;

/** Milliseconds since 1970 of an RFC 3339 date such as `2026-11-17T12:00:30Z`, rounded up, or undefined. */
export function parseIsoDate(text: string): number | undefined {
  const found = text.length > HINT_MAX_CHARS ? null : FORM.exec(text);
  if (found === null) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as Six;
  const atMs = utcMs({ year, month, day, hour, minute, second });
  if (atMs === undefined) return undefined;
  const [fraction = "0", sign, hours = "0", minutes = "0"] = found.slice(7);
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  const localMs = atMs + Math.ceil(Number(`${fraction}e${3 - fraction.length}`));
  return sign === "-" ? localMs + offsetMs : localMs - offsetMs;
}

type Six = [number, number, number, number, number, number];

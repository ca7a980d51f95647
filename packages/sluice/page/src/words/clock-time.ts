const clock = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** Local time: `14:32:08`; with the date if it is of another day than `nowMs`. */
export function clockTime(wallMs: number, nowMs: number = wallMs): string {
  const time = clock.format(wallMs);
  return day.format(wallMs) === day.format(nowMs) ? time : `${day.format(wallMs)}, ${time}`;
}

import type { JSX } from "preact";
import { changes } from "../../live/live-store.ts";
import { clockTime } from "../../words/clock-time.ts";
import type { Target } from "../model/target.ts";
import { localName } from "../model/target.ts";

/** Lines that are shown. */
const SHOWN = 8;

/** What changed for this limit: its own changes, and when producers began and ceased to wait. */
export function LimitChanges({
  target,
  nowMs,
}: {
  readonly target: Target;
  readonly nowMs: number;
}): JSX.Element {
  const all = changes.value
    .filter(({ subject, text }) => isOf(target, subject, text))
    .slice(0, SHOWN);
  return (
    <section class="panel" aria-labelledby="changes-title">
      <header>
        <h2 id="changes-title">Changes</h2>
        <span class="sub">of decisions, newest first</span>
      </header>
      {all.length === 0 ? (
        <p class="nothing">Nothing has changed since this page knows.</p>
      ) : (
        <table class="t changes">
          <tbody>
            {all.map(({ id, atMs, text }) => (
              <tr key={id}>
                <td class="num t3">{clockTime(atMs, nowMs)}</td>
                <td>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function isOf(target: Target, subject: string | undefined, text: string): boolean {
  switch (target.kind) {
    case "topic":
      return (
        subject === target.name || subject === localName(target.name) || text.includes(target.name)
      );
    case "group":
      return subject === target.name || text.includes(`group ${target.name}`);
    case "broker":
      return text.includes("broker") || text.includes("gateway");
    case "held":
      return false;
  }
}

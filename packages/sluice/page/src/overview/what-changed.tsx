import { computed } from "@preact/signals";
import type { JSX } from "preact";
import type { LiveChange } from "../../../src/live/live-message.ts";
import { changes, latest } from "../live/live-store.ts";
import { clockTime } from "../words/clock-time.ts";
import { withTopicNames } from "../words/names.ts";
import { wholeText } from "../words/numbers.ts";

const MINUTE_MS = 60_000;
/** When it is, to the minute: lines of another day have a date. */
const minuteMs = computed(
  () => latest.value && Math.floor(latest.value.atMs / MINUTE_MS) * MINUTE_MS,
);

/** Decisions, newest first; never single messages. */
export function WhatChanged(): JSX.Element {
  const nowMs = minuteMs.value;
  return (
    <section class="panel changed" aria-labelledby="changed-title">
      <header>
        <h2 id="changed-title">What changed</h2>
        <span class="sp" />
        <span class="sub">decisions, newest first</span>
      </header>
      <ol class="log" tabIndex={0} aria-labelledby="changed-title">
        {nowMs === undefined && <li class="skeleton" />}
        {nowMs !== undefined && changes.value.length === 0 && (
          <li class="t3">Nothing has changed since the start.</li>
        )}
        {changes.value.map((change) => (
          <li key={change.id}>
            <time class="num">{clockTime(change.atMs, nowMs ?? change.atMs)}</time>
            <span>
              <ChangeText {...change} />
              <Times {...change} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Of a line that stands for several changes. */
function Times({ times, sinceMs }: LiveChange): JSX.Element | null {
  if (times === undefined || sinceMs === undefined) return null;
  return (
    <span class="t3">
      {` (${wholeText(times)} times since ${clockTime(sinceMs, minuteMs.value)})`}
    </span>
  );
}

/** The subject is strong where it stands in the text. */
function ChangeText(change: LiveChange): JSX.Element {
  const { text, subject = "" } = change;
  const at = subject === "" ? -1 : text.indexOf(subject);
  if (at < 0) return <span>{withTopicNames(text)}</span>;
  return (
    <span>
      {withTopicNames(text.slice(0, at))}
      <b>{withTopicNames(subject)}</b>
      {withTopicNames(text.slice(at + subject.length))}
    </span>
  );
}

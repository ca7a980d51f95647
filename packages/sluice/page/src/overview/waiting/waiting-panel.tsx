import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { LiveSample } from "../../../../src/live/live-message.ts";
import { changes, pinnedAtMs, samples } from "../../live/live-store.ts";
import { Icon } from "../../parts/icon.tsx";
import { clockTime } from "../../words/clock-time.ts";
import { countedText } from "../../words/numbers.ts";
import { waitControl } from "../../words/wait/wait-control.ts";
import { arrangeRows } from "./arrange-rows.ts";
import type { ArrangedRow } from "./arrange-rows.ts";
import { lastWaitText } from "./last-wait.ts";
import { WaitingRow } from "./waiting-row.tsx";

/** "Waiting now": one row for each limit in force, the control beside it. */
export function WaitingPanel({ sample }: { readonly sample: LiveSample | undefined }): JSX.Element {
  const count = sample === undefined ? 0 : sample.waits.length + sample.waitsLeftOut;
  const isPast = pinnedAtMs.value !== undefined && sample !== undefined;
  return (
    <section class="panel waiting" id="waits" tabIndex={-1} aria-labelledby="waiting-title">
      <header>
        <h2 id="waiting-title">
          {isPast ? `Waiting at ${clockTime(sample.atMs)}` : "Waiting now"}
        </h2>
        {count > 0 && <span class="sub">{countedText(count, "thing")}</span>}
        <span class="sp" />
        <span class="sub">heaviest first</span>
      </header>
      {sample === undefined ? <Loading /> : <Rows sample={sample} isPast={isPast} />}
    </section>
  );
}

function Loading(): JSX.Element {
  return (
    <div class="waits loading">
      <div class="skeleton" />
      <div class="skeleton" />
      <div class="skeleton" />
    </div>
  );
}

function Rows({
  sample,
  isPast,
}: {
  readonly sample: LiveSample;
  readonly isPast: boolean;
}): JSX.Element {
  const before = useRef<readonly ArrangedRow[]>([]);
  const [isHeld, hold] = useState(false);
  const [dirty, setDirty] = useState<ReadonlySet<string>>(new Set());
  const arranged = arrangeRows(before.current, sample.waits, { isHeld: isHeld && !isPast, dirty });
  before.current = arranged.rows;
  const settings = new Set<string>();
  const list = useRef<HTMLDivElement>(null);
  const release = (): void => {
    const element = list.current;
    // The focus may still be in the list when the pointer leaves it, and the other way round.
    hold(element !== null && (element.matches(":hover") || element.matches(":focus-within")));
  };
  return (
    <div
      class="waits"
      ref={list}
      onPointerEnter={() => hold(true)}
      onPointerLeave={release}
      onFocusIn={() => hold(true)}
      onFocusOut={() => requestAnimationFrame(release)}
    >
      {arranged.rows.length === 0 && <NothingWaits />}
      {arranged.rows.map(({ wait, isOver }) => {
        const control = waitControl(wait, sample);
        const isRepeated = "setting" in control && settings.has(control.setting);
        if ("setting" in control) settings.add(control.setting);
        return (
          <WaitingRow
            key={wait.key}
            wait={wait}
            sample={sample}
            control={control}
            isRepeated={isRepeated}
            isOver={isOver}
            isPast={isPast}
            onDirty={(isDirty) => setDirty((known) => withKey(known, wait.key, isDirty))}
          />
        );
      })}
      {arranged.more > 0 && (
        <button class="btn ghost small more" type="button" onClick={() => hold(false)}>
          {arranged.more} more
        </button>
      )}
      {arranged.more === 0 && sample.waitsLeftOut > 0 && (
        <p class="more t3">and {countedText(sample.waitsLeftOut, "other")}</p>
      )}
    </div>
  );
}

function withKey(known: ReadonlySet<string>, key: string, isIn: boolean): ReadonlySet<string> {
  if (known.has(key) === isIn) return known;
  const next = new Set(known);
  if (isIn) next.add(key);
  else next.delete(key);
  return next;
}

function NothingWaits(): JSX.Element {
  return (
    <div class="none">
      <Icon name="flowing" size={30} />
      <b>Nothing waits</b>
      {lastWaitText(samples.value, changes.value.length)}
    </div>
  );
}

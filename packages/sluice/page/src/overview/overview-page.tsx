import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { lostForMs } from "../frame/connection-badge.tsx";
import { Headline } from "../frame/headline.tsx";
import { shown } from "../live/live-store.ts";
import { Words } from "../parts/words.tsx";
import { headlineWords } from "../words/headline-words.ts";
import { LanesPanel } from "./lanes/lanes-panel.tsx";
import { PathPanel } from "./path/path-panel.tsx";
import { FiveThrottles } from "./throttles/five-throttles.tsx";
import { WaitingPanel } from "./waiting/waiting-panel.tsx";
import { WhatChanged } from "./what-changed.tsx";

const narrow = matchMedia("(max-width: 760px)");
const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", () => {
  isNarrow.value = narrow.matches;
});

/** Is it flowing? What waits, why, and what would change it? */
export function OverviewPage(): JSX.Element {
  const sample = shown.value;
  const path = <PathPanel key="path" sample={sample} />;
  const throttles = <FiveThrottles key="throttles" />;
  const waiting = <WaitingPanel key="waiting" sample={sample} />;
  return (
    <>
      <Headline>{sample === undefined ? undefined : <Words of={headlineWords(sample)} />}</Headline>
      <div class={lostForMs.value === undefined ? "overview" : "overview is-stale"}>
        {/* The keyboard goes through the page in the order in which it is read. */}
        {isNarrow.value ? (
          <>
            {waiting}
            {path}
            <LanesPanel key="lanes" />
            {throttles}
            <WhatChanged key="changed" />
          </>
        ) : (
          <>
            {path}
            {throttles}
            {waiting}
            <div class="rail" key="rail">
              <LanesPanel />
              <WhatChanged />
            </div>
          </>
        )}
      </div>
    </>
  );
}

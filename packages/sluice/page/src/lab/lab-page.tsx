import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { durationText } from "../words/numbers.ts";
import { LAB_KINDS } from "./kinds/kinds.ts";
import {
  choosePreset,
  failed,
  figures,
  importLink,
  layout,
  preset,
  resultOf,
  retryRuns,
  startRuns,
  state,
  tookMs,
} from "./lab-store.ts";
import type { Layout } from "./lab-store.ts";
import { textAt } from "./model/document.ts";
import { Charts } from "./view/charts.tsx";
import { Results } from "./view/results.tsx";
import { ScenarioPanel } from "./view/scenario-panel.tsx";
import { SettingsSection } from "./view/settings-section.tsx";
import { TrafficSection } from "./view/traffic-section.tsx";
import { UsePanel } from "./view/use-panel.tsx";

const LAYOUTS: readonly (readonly [Layout, string])[] = [
  ["stack", "One above the other"],
  ["side", "Side by side"],
  ["over", "Overlaid"],
];

/** Which of two settings is better for this traffic, and at what price? */
export function LabPage(): JSX.Element {
  useEffect(() => {
    const read = (): void => void importLink(location.hash);
    read();
    addEventListener("hashchange", read);
    const stop = startRuns();
    return () => {
      removeEventListener("hashchange", read);
      stop();
    };
  }, []);
  return (
    <>
      <LabHeadline />
      {failed.value !== undefined && (
        <div class="banner" role="alert">
          <span>
            <b>The simulator could not be started.</b> {failed.value} What is shown is from the last
            good run.
          </span>
          <span class="sp" />
          <button class="btn small" type="button" onClick={retryRuns}>
            Try now
          </button>
        </div>
      )}
      <div class="lab">
        <section class="panel lab-controls" aria-label="Settings">
          <KindSection />
          <TrafficSection />
          <SettingsSection />
        </section>
        <div class="lab-results">
          <div class="lab-bar">
            <span class="seg" role="group" aria-label="Layout">
              {LAYOUTS.map(([id, name]) => (
                <button
                  key={id}
                  type="button"
                  aria-pressed={layout.value === id}
                  onClick={() => (layout.value = id)}
                >
                  {name}
                </button>
              ))}
            </span>
            <RunNote />
          </div>
          <Charts />
          <Results />
          <div class="lab-out">
            <ScenarioPanel />
            <UsePanel />
          </div>
        </div>
      </div>
    </>
  );
}

/** The verdict in words. Bold and plain parts alternate, bold first. */
function LabHeadline(): JSX.Element {
  const { value } = figures;
  return (
    <div class="headline">
      <h1 aria-live="polite">
        {value === undefined ? (
          <>
            <div class="skeleton" />
            <span class="sr">Loading</span>
          </>
        ) : (
          state.value.kind
            .sentence(value.a, value.b)
            .map((part, index) =>
              index % 2 === 0 ? <b key={index}>{part}</b> : <span key={index}>{part}</span>,
            )
        )}
      </h1>
    </div>
  );
}

function KindSection(): JSX.Element {
  const { kind } = state.value;
  const choose = (index: number): void => choosePreset(LAB_KINDS[index] ?? kind, 0);
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    const next = (LAB_KINDS.indexOf(kind) + by + LAB_KINDS.length) % LAB_KINDS.length;
    choose(next);
    document.getElementById(`lab-tab-${LAB_KINDS[next]?.id ?? ""}`)?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="section">
      <div class="seg" role="tablist" aria-label="What to try" onKeyDown={onKeyDown}>
        {LAB_KINDS.map(({ id, name }, index) => (
          <button
            key={id}
            id={`lab-tab-${id}`}
            type="button"
            role="tab"
            aria-selected={id === kind.id}
            tabIndex={id === kind.id ? 0 : -1}
            onClick={() => choose(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <label class="lab-from">
        Start from
        <select
          value={String(preset.value)}
          onChange={(event) => choosePreset(kind, Number(event.currentTarget.value))}
        >
          {kind.presets.map(({ name }, index) => (
            <option key={name} value={String(index)} selected={index === preset.value}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function RunNote(): JSX.Element | null {
  const seconds = secondsOf(resultOf("a")?.chart.series[0]?.points ?? []);
  const took = tookMs.value;
  if (seconds === undefined || took === undefined) return null;
  return (
    <span class="t3" data-took={took}>
      {Math.ceil(seconds)} s simulated in {took < 1 ? "under 1 ms" : durationText(took)}, seed{" "}
      {textAt(state.value.a, ["seed"], "1")}
    </span>
  );
}

/** How long a run was: its last point, and the second that it is of. */
function secondsOf(points: readonly { readonly x: number }[]): number | undefined {
  const [before, last] = points.slice(-2);
  return last === undefined || before === undefined ? undefined : 2 * last.x - before.x;
}

import type { Chart } from "@sluice/lab/browser";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { cursorX, layout, problemOf, resultOf, state } from "../lab-store.ts";
import type { Side } from "../model/state.ts";
import { cursorText, inkedPanels, LegendSwatch, Plot, topsOf } from "../plot/plot.tsx";
import type { InkedPanel } from "../plot/plot.tsx";
import { SideBadge } from "./side-badge.tsx";

const COLORS: Readonly<Record<Side, string>> = { a: "water", b: "lab-b" };
const HEIGHTS = { stack: 224, side: 288, over: 344 };

/** Names of a legend that have room beside the title. */
const BESIDE_MAX = 6;

const setCursor = (x: number | undefined): void => {
  cursorX.value = x;
};

/** The charts of both sides with the same axes: one above the other, side by side, or in one. */
export function Charts(): JSX.Element {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [a, b] = [resultOf("a")?.chart, resultOf("b")?.chart];
  if (a === undefined || b === undefined) return <ChartSkeletons />;
  const toggle = (label: string): void => {
    const next = new Set(hidden);
    if (!next.delete(label)) next.add(label);
    setHidden(next);
  };
  const panels = { a: inkedPanels(a, COLORS.a, hidden), b: inkedPanels(b, COLORS.b, hidden) };
  const [topsA, topsB] = [topsOf(panels.a), topsOf(panels.b)];
  const tops = panels.a.map((_, i) => Math.max(topsA[i] ?? 0, topsB[i] ?? 0));
  if (layout.value === "over") return <Overlaid panels={panels} tops={tops} />;
  return (
    <div class={`charts ${layout.value}`}>
      {(["a", "b"] as const).map((side) => (
        <section class="panel lab-chart" key={side} aria-label={`Chart of ${side.toUpperCase()}`}>
          <header>
            <SideBadge side={side} />
            <h2>{state.value.kind.nameOf(state.value[side])}</h2>
            <span class="sub">{state.value.kind.noteOf(state.value[side])}</span>
            <Legend chart={side === "a" ? a : b} side={side} hidden={hidden} onToggle={toggle} />
          </header>
          <Problem side={side} />
          <Plot
            id={`plot-${side}`}
            label={`Chart of setting ${side.toUpperCase()}`}
            panels={panels[side]}
            tops={tops}
            markers={(side === "a" ? a : b).markers}
            height={HEIGHTS[layout.value === "side" ? "side" : "stack"]}
            cursor={cursorX.value}
            onCursor={setCursor}
          />
        </section>
      ))}
    </div>
  );
}

function Overlaid({
  panels,
  tops,
}: {
  readonly panels: Readonly<Record<Side, readonly InkedPanel[]>>;
  readonly tops: readonly number[];
}): JSX.Element {
  const merged = panels.a.map((panel, index): InkedPanel => {
    const [mine, theirs] = [panel.lines[0], panels.b[index]?.lines[0]];
    const asked = panel.lines.filter(({ series }) => series.label === "asked");
    const lines = [
      ...(mine === undefined ? [] : [{ ...mine, ink: { ...mine.ink, color: COLORS.a } }]),
      ...(theirs === undefined
        ? []
        : [
            {
              series: { ...theirs.series, label: `${theirs.series.label} B` },
              ink: { color: COLORS.b, dash: "6 3", isFilled: false },
            },
          ]),
      ...asked,
    ];
    return { y: panel.y, lines };
  });
  return (
    <section class="panel lab-chart" aria-label="Charts of A and B">
      <header>
        {(["a", "b"] as const).map((side) => (
          <>
            <SideBadge side={side} />
            <h2>{state.value.kind.nameOf(state.value[side])}</h2>
          </>
        ))}
        <span class="legend">
          {(merged[0]?.lines ?? []).map((line, index) => (
            <span key={line.series.label}>
              <LegendSwatch ink={line.ink} />
              {["A", "B"][index] ?? line.series.label}
              <b class="num">{cursorText(line, cursorX.value)}</b>
            </span>
          ))}
        </span>
      </header>
      <Problem side="a" />
      <Problem side="b" />
      <Plot
        id="plot-over"
        label="Charts of both settings in one"
        panels={merged}
        tops={tops}
        height={HEIGHTS.over}
        cursor={cursorX.value}
        onCursor={setCursor}
      />
    </section>
  );
}

function Legend(props: {
  readonly chart: Chart;
  readonly side: Side;
  readonly hidden: ReadonlySet<string>;
  readonly onToggle: (label: string) => void;
}): JSX.Element {
  const { chart, side, hidden, onToggle } = props;
  const all = inkedPanels(chart, COLORS[side], new Set()).flatMap(({ lines }) => lines);
  return (
    <span class={`legend${all.length > BESIDE_MAX ? " long" : ""}`}>
      {all.map((line) => {
        const { label } = line.series;
        return (
          <button
            key={label}
            type="button"
            aria-pressed={!hidden.has(label)}
            onClick={() => onToggle(label)}
          >
            <LegendSwatch ink={line.ink} />
            {label}
            <b class="num">{cursorText(line, cursorX.value)}</b>
          </button>
        );
      })}
    </span>
  );
}

/** What is wrong with a side; the picture is then of its last good run. */
function Problem({ side }: { readonly side: Side }): JSX.Element | null {
  const problem = problemOf(side);
  if (problem === undefined) return null;
  return (
    <p class="lab-problem" role="alert">
      <b>
        {side.toUpperCase()}
        {problem.line === undefined ? "" : `, line ${problem.line} of its scenario`}:
      </b>{" "}
      {problem.message}. The last good run stays.
    </p>
  );
}

function ChartSkeletons(): JSX.Element {
  return (
    <div class="charts">
      {(["a", "b"] as const).map((side) => (
        <section class="panel lab-chart" key={side}>
          <header>
            <SideBadge side={side} />
          </header>
          <Problem side={side} />
          <div class="skeleton lab-skeleton" />
        </section>
      ))}
    </div>
  );
}

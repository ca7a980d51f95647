import type { JSX } from "preact";
import { render } from "preact";
import { useState } from "preact/hooks";
import type { ReportedScenario } from "../../../src/report/report-data.ts";
import { cursorText, inkedPanels, LegendSwatch, Plot, topsOf } from "../lab/plot/plot.tsx";

const HEIGHT = 360;
/** Scenarios whose table is open at first. */
const OPEN_MAX = 1;

/** The report of `sluice simulate --html`: a chart with a cursor for each scenario, what was expected, and the rows. */
function Report({ scenarios }: { readonly scenarios: readonly ReportedScenario[] }): JSX.Element {
  const missed = scenarios.filter((each) => each.missed.length > 0).length;
  const [theme, setTheme] = useState<string | undefined>(undefined);
  const next = theme === "light" || (theme === undefined && isSystemLight()) ? "dark" : "light";
  return (
    <>
      <div class="headline">
        <h1>
          <b>{headlineOf(scenarios.length, missed)}</b>
          <span>
            {" "}
            Everything ran in virtual time: the same files give the same report on any machine.
          </span>
        </h1>
        <div class="side no-print">
          <button
            class="btn small"
            type="button"
            onClick={() => {
              document.documentElement.dataset["theme"] = next;
              setTheme(next);
            }}
          >
            {next === "dark" ? "Dark" : "Light"}
          </button>
        </div>
      </div>
      {scenarios.length > 1 && (
        <ul class="contents panel">
          {scenarios.map(({ file, title, missed: misses }, index) => (
            <li key={file}>
              <a href={`#s${index}`}>{title || file}</a> <Verdict missed={misses.length} />
            </li>
          ))}
        </ul>
      )}
      {scenarios.map((scenario, index) => (
        <Scenario
          key={scenario.file}
          id={`s${index}`}
          scenario={scenario}
          isOpen={scenarios.length <= OPEN_MAX}
        />
      ))}
    </>
  );
}

function Scenario(props: {
  readonly id: string;
  readonly scenario: ReportedScenario;
  readonly isOpen: boolean;
}): JSX.Element {
  const { id, scenario, isOpen } = props;
  const { chart, closing, columns, rows, rowsLeftOut, missed, expected } = scenario;
  const [cursor, setCursor] = useState<number | undefined>(undefined);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const panels = inkedPanels(chart, "water", hidden);
  const all = inkedPanels(chart, "water", new Set()).flatMap(({ lines }) => lines);
  const toggle = (label: string): void => {
    const next = new Set(hidden);
    if (!next.delete(label)) next.add(label);
    setHidden(next);
  };
  return (
    <section class="panel lab-chart" id={id} aria-labelledby={`${id}-title`}>
      <header>
        <h2 id={`${id}-title`}>{chart.title}</h2>
        <span class="sub">{chart.subtitle}</span>
        <Verdict missed={missed.length} />
        <span class="legend">
          {all.map((line) => (
            <button
              key={line.series.label}
              type="button"
              aria-pressed={!hidden.has(line.series.label)}
              onClick={() => toggle(line.series.label)}
            >
              <LegendSwatch ink={line.ink} />
              {line.series.label}
              <b class="num">{cursorText(line, cursor)}</b>
            </button>
          ))}
        </span>
      </header>
      <p class="at num">
        {cursor === undefined
          ? "Move over the chart, or use the arrow keys on it."
          : `at ${cursor} ${chart.x.unit ?? ""}`}
      </p>
      <Plot
        id={`${id}-plot`}
        label={`Chart of ${chart.title}`}
        panels={panels}
        tops={topsOf(panels)}
        markers={chart.markers}
        height={HEIGHT}
        cursor={cursor}
        onCursor={setCursor}
      />
      <div class="facts">
        {closing !== "" && <pre>{closing}</pre>}
        {missed.map(({ path, expected: wanted, found }) => (
          <p key={path} class="missed">
            <b>missed:</b> <code>{path}</code>: expected {wanted}, found {found}
          </p>
        ))}
        <p class="t3">
          {scenario.file}, kind {scenario.kind}; {expected - missed.length} of {expected}{" "}
          expectations met
        </p>
        <details open={isOpen}>
          <summary>
            {rows.length} rows{rowsLeftOut > 0 ? ` of ${rows.length + rowsLeftOut}` : ""}
          </summary>
          <div class="rows">
            <table class="t">
              <thead>
                <tr>
                  {columns.map((name) => (
                    <th key={name} class="r">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((cells, row) => (
                  <tr key={row}>
                    {cells.map((cell, column) => (
                      <td key={column} class="r num">
                        {cell}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      </div>
    </section>
  );
}

function Verdict({ missed }: { readonly missed: number }): JSX.Element {
  return missed === 0 ? (
    <span class="verdict met">✓ as expected</span>
  ) : (
    <span class="verdict missed">
      ✗ {missed === 1 ? "1 expectation missed" : `${missed} expectations missed`}
    </span>
  );
}

function headlineOf(count: number, missed: number): string {
  const what = count === 1 ? "The scenario" : `${count} scenarios`;
  if (missed === 0) return `${what} came out as expected.`;
  return count === 1
    ? "The scenario missed what its file expects."
    : `${missed} of ${count} scenarios missed what their files expect.`;
}

function isSystemLight(): boolean {
  return matchMedia("(prefers-color-scheme: light)").matches;
}

const root = document.getElementById("report");
const data = document.getElementById("data");
if (root !== null && data !== null) {
  root.replaceChildren();
  render(<Report scenarios={JSON.parse(data.textContent) as ReportedScenario[]} />, root);
}

import type { JSX } from "preact";
import { compare } from "../kinds/figures.ts";
import { figures, state } from "../lab-store.ts";
import type { Figure } from "../model/kind.ts";
import { SideBadge } from "./side-badge.tsx";

/** What both runs come to; better and worse are words, a trade-off has none. */
export function Results(): JSX.Element {
  const { value } = figures;
  const isLive = state.value.traffic.shape === "live";
  return (
    <section class="panel" aria-labelledby="results-title">
      <header>
        <h2 id="results-title">What it comes to</h2>
      </header>
      {value === undefined ? (
        <div class="skeleton lab-skeleton low" />
      ) : (
        <table class="t results">
          <thead>
            <tr>
              <th>{isLive ? "on the traffic of the last 5 minutes" : "on this traffic"}</th>
              <th class="r">
                <SideBadge side="a" />
              </th>
              <th class="r">
                <SideBadge side="b" />
              </th>
              <th class="wide">B against A</th>
            </tr>
          </thead>
          <tbody>
            {value.a.map((a, index) => {
              const b = value.b[index];
              return b === undefined ? null : <Row key={a.name} a={a} b={b} />;
            })}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ a, b }: { readonly a: Figure; readonly b: Figure }): JSX.Element {
  const { change, verdict, text } = compare(a, b);
  const part = Math.min(1, Math.abs(change ?? 0)) * 32;
  return (
    <tr>
      <td>{a.name}</td>
      <td class="r num">{shown(a)}</td>
      <td class="r num strong">{shown(b)}</td>
      <td class="wide">
        <span class={`delta ${verdict}`}>
          <svg width="64" height="10" aria-hidden="true">
            <rect class="track" y="2" width="64" height="6" rx="3" />
            <rect
              class="part"
              x={(change ?? 0) < 0 ? 32 - part : 32}
              y="2"
              width={part}
              height="6"
              rx="2"
            />
            <line x1="32.5" x2="32.5" y1="0" y2="10" />
          </svg>
          {text}
        </span>
      </td>
    </tr>
  );
}

function shown({ value, text, none = "–" }: Figure): string {
  return value === null ? none : text(value);
}

import type { JSX } from "preact";
import type { LivePoolDetail, LiveSample, LiveShare } from "../../../../src/live/live-message.ts";
import { Swatch } from "../../chart/swatch.tsx";
import { TimeChart } from "../../chart/time-chart.tsx";
import { hatch } from "../../chart/texture.ts";
import { peeked } from "../../live/live-store.ts";
import { rateText } from "../../words/numbers.ts";
import { isWithoutStore } from "../model/pool-standing.ts";
import { usedByAll } from "../model/pool-use.ts";
import { poolsOf } from "../model/pools.ts";
import { rampWords } from "../model/ramp-words.ts";
import { past } from "../past-store.ts";
import { drawSteps } from "./draw-steps.ts";

/** A sync that is older than this is a lost store, in syncs. */
const LOST_SYNCS = 12;

/** The ceiling of the pool over five minutes, what its members used of it, and this member's share. */
export function RampChart({ detail }: { readonly detail: LivePoolDetail }): JSX.Element {
  const { pool, share } = detail;
  const of = (sample: LiveSample): LiveShare | undefined =>
    poolsOf(sample).find((one) => one.pool === pool)?.share;
  const isAlone = isWithoutStore(detail);
  const usedInAll = (sample: LiveSample): number | undefined => {
    const own = of(sample);
    return isAlone || own?.members === 1 ? usedOf(own) : usedByAll(past.peek().past, sample.atMs);
  };
  const at = peeked.value;
  const now = at && of(at);
  const { max, min } = share;
  return (
    <section class="panel" aria-labelledby="ramp-title">
      <header>
        <h2 id="ramp-title">Ramp</h2>
        <span class="sub" title={detail.settings.mode}>
          {rampWords(detail)}
        </span>
        <span class="sp" />
        <span class="legend">
          <span>
            <Swatch color="water" isFilled />
            {isAlone ? "used" : "used by all"} <b class="num">{rateText(at && usedInAll(at))}</b>
          </span>
          {!isAlone && (
            <span>
              <Swatch color="water" />
              used here <b class="num">{rateText(usedOf(now))}</b>
            </span>
          )}
          <span>
            <Swatch color="water" dash="2 2" />
            share here <b class="num">{rateText(now?.share)}</b>
          </span>
          <span>
            <Swatch color="text" dash="5 3" />
            ceiling <b class="num">{rateText(now?.ceiling)}</b>
          </span>
        </span>
      </header>
      <div class="plot">
        <TimeChart
          label="Ceiling of the pool, this member's share and what it used"
          height={170}
          axisWidth={46}
          leastMax={max ?? 1}
          series={[
            { get: usedInAll, color: "water", isFilled: true },
            { get: (sample) => usedOf(of(sample)), color: "water", width: 1 },
            {
              get: (sample) => of(sample)?.share,
              color: "water",
              dash: [2, 2],
              width: 1.4,
              isStepped: true,
            },
            {
              get: (sample) => of(sample)?.ceiling,
              color: "text",
              dash: [5, 3],
              width: 1.5,
              isStepped: true,
            },
          ]}
          over={(plot) => drawSteps(plot, of)}
          under={({ pen, palette, samples, x, y, top, bottom }) => {
            pen.strokeStyle = palette.ink("line-strong");
            pen.setLineDash([1, 3]);
            for (const bound of [max, min]) {
              if (bound === undefined || samples.length === 0) continue;
              pen.beginPath();
              pen.moveTo(x(samples[0]?.atMs ?? 0), y(bound));
              pen.lineTo(x(samples.at(-1)?.atMs ?? 0), y(bound));
              pen.stroke();
            }
            pen.setLineDash([]);
            pen.fillStyle = hatch(pen, palette, { token: "r-store", alpha: 0.6 });
            for (const [from, to] of lostTimes(samples, of))
              pen.fillRect(x(from), top, Math.max(1, x(to) - x(from)), bottom - top);
          }}
        />
      </div>
    </section>
  );
}

function usedOf(share: LiveShare | undefined): number | undefined {
  return share?.usage === undefined || share.share === undefined
    ? undefined
    : share.usage * share.share;
}

/** Times in which the store did not answer for long. */
function lostTimes(
  samples: readonly LiveSample[],
  of: (sample: LiveSample) => LiveShare | undefined,
): readonly (readonly [number, number])[] {
  const times: (readonly [number, number])[] = [];
  let from: number | undefined;
  for (const sample of samples) {
    const { syncAgeMs = 0, syncMs = 500 } = of(sample) ?? {};
    const isLost = syncAgeMs > LOST_SYNCS * syncMs;
    if (isLost) from ??= sample.atMs;
    else if (from !== undefined) {
      times.push([from, sample.atMs]);
      from = undefined;
    }
  }
  const last = samples.at(-1);
  return from === undefined || last === undefined ? times : [...times, [from, last.atMs]];
}

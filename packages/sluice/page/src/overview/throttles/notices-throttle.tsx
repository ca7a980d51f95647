import type { JSX } from "preact";
import type { Reason } from "@sluice/core";
import type { LiveSample } from "../../../../src/live/live-message.ts";
import type { Plot } from "../../chart/time-chart.tsx";
import { TimeChart } from "../../chart/time-chart.tsx";
import { StateTag } from "../../parts/state-tag.tsx";
import { countText, durationText, NOT_KNOWN } from "../../words/numbers.ts";
import { REASON_LOOKS } from "../../words/reasons.ts";
import { Throttle, Value } from "./throttle.tsx";

/** The least top of the scale, ms: short pauses shall look short. */
const LEAST_MAX_MS = 100;

/** Who was told to wait (PIP-385), for how long, and whether receipts came. */
export function NoticesThrottle({ sample }: { readonly sample: LiveSample }): JSX.Element {
  const notices = sample.gateway?.notices;
  const told = notices?.told ?? 0;
  return (
    <Throttle
      number={2}
      name="Throttle notices"
      state={
        told > 0 ? (
          <StateTag state="throttled" word={`telling ${told}`} />
        ) : (
          <StateTag state="idle" word={notices === undefined ? "No gateway" : "Nothing to tell"} />
        )
      }
      legend={
        <>
          <Value
            name="told"
            value={notices === undefined ? NOT_KNOWN : `${told} of ${notices.limited}`}
            more=" limited"
          />
          <Value name="receipts in" value={durationText(notices?.receiptMs)} />
          <span>
            <b>{countText(notices?.missing)}</b> missing
          </span>
        </>
      }
    >
      <TimeChart
        label="Throttle notices and how long they asked to wait"
        series={[]}
        leastMax={LEAST_MAX_MS}
        extra={(one) => one.gateway?.notices.pauseMs}
        mark={(ms) => (ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`)}
        axisWidth={46}
        over={drawNotices}
      />
    </Throttle>
  );
}

/** A stem for each notice; its head is round for a topic and square for a group or the gateway. */
function drawNotices({ pen, palette, samples, x, y, bottom }: Plot): void {
  for (const sample of samples) {
    const pauseMs = sample.gateway?.notices.pauseMs;
    if (pauseMs === undefined) continue;
    const reason = toldReason(sample);
    const [left, top] = [Math.round(x(sample.atMs)), y(pauseMs)];
    pen.strokeStyle = pen.fillStyle = palette.ink(REASON_LOOKS[reason].color);
    pen.lineWidth = 1.4;
    pen.beginPath();
    pen.moveTo(left, bottom);
    pen.lineTo(left, top);
    pen.stroke();
    pen.beginPath();
    if (reason === "topic-rate") pen.arc(left, top, 1.9, 0, 2 * Math.PI);
    else pen.rect(left - 1.7, top - 1.7, 3.4, 3.4);
    pen.fill();
  }
}

function toldReason({ gateway }: LiveSample): Reason {
  const told = gateway?.producers.filter(
    (one) => one.told !== undefined && one.reason !== undefined,
  );
  const longest = told?.toSorted((a, b) => (b.told?.pauseMs ?? 0) - (a.told?.pauseMs ?? 0))[0];
  return longest?.reason ?? "topic-rate";
}

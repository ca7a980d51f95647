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
  const tops = new Map<Reason, (readonly [left: number, top: number])[]>();
  for (const sample of samples) {
    const pauseMs = sample.gateway?.notices.pauseMs;
    if (pauseMs === undefined) continue;
    const reason = toldReason(sample);
    const known = tops.get(reason) ?? [];
    known.push([Math.round(x(sample.atMs)), y(pauseMs)]);
    tops.set(reason, known);
  }
  pen.lineWidth = 1.4;
  // One path for all stems of a colour: hundreds of short ones take ten times as long.
  for (const [reason, list] of tops) {
    pen.strokeStyle = pen.fillStyle = palette.ink(REASON_LOOKS[reason].color);
    pen.beginPath();
    for (const [left, top] of list) {
      pen.moveTo(left, bottom);
      pen.lineTo(left, top);
    }
    pen.stroke();
    pen.beginPath();
    for (const [left, top] of list)
      if (reason === "topic-rate") {
        pen.moveTo(left + 1.9, top);
        pen.arc(left, top, 1.9, 0, 2 * Math.PI);
      } else pen.rect(left - 1.7, top - 1.7, 3.4, 3.4);
    pen.fill();
  }
}

function toldReason({ gateway }: LiveSample): Reason {
  let longest: { readonly reason: Reason; readonly pauseMs: number } | undefined;
  for (const { reason, told } of gateway?.producers ?? [])
    if (told !== undefined && reason !== undefined && told.pauseMs > (longest?.pauseMs ?? -1))
      longest = { reason, pauseMs: told.pauseMs };
  return longest?.reason ?? "topic-rate";
}

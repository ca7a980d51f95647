import type { JSX } from "preact";
import type { LiveSample } from "../../../../src/live/live-message.ts";
import { Swatch } from "../../chart/swatch.tsx";
import type { Plot } from "../../chart/time-chart.tsx";
import { TimeChart } from "../../chart/time-chart.tsx";
import { hatch } from "../../chart/texture.ts";
import { StateTag } from "../../parts/state-tag.tsx";
import { countText, durationText, NOT_KNOWN, rateText } from "../../words/numbers.ts";
import { fillSpans } from "./spans.ts";
import { gateOf, vertexOf } from "./subject.ts";
import type { VertexSubject } from "./subject.ts";
import { Throttle, Value } from "./throttle.tsx";

interface GateProps {
  readonly sample: LiveSample;
  readonly subject: VertexSubject | undefined;
}

/** What is sent to the service, how its rate was cut, and the pauses that it asked for. */
export function BusyThrottle({ sample, subject }: GateProps): JSX.Element {
  const gate = gateOf(sample, subject);
  const reason = vertexOf(sample, subject)?.reason;
  const cutAgoMs = gate?.cut?.agoMs;
  return (
    <Throttle
      number={4}
      name="Busy throttle"
      state={
        gate === undefined ? (
          <StateTag state="idle" word="No service" />
        ) : gate.pause !== undefined ? (
          <StateTag state="paused" />
        ) : reason === "peer-busy" ? (
          <StateTag state="throttled" word="cut" />
        ) : (
          <StateTag state="flowing" word="Open" />
        )
      }
      legend={
        <>
          <Value
            swatch={<Swatch color="water" isFilled />}
            name="sent"
            value={rateText(gate?.sent)}
          />
          <Value
            swatch={<Swatch color="text" dash="4 2" />}
            name="allowed"
            value={
              gate === undefined
                ? NOT_KNOWN
                : gate.allowed === undefined
                  ? "all"
                  : rateText(gate.allowed)
            }
          />
          <Value
            swatch={
              <svg width="10" height="8" aria-hidden="true">
                <path d="M5 8 1 1h8z" fill="var(--amber-fill)" />
              </svg>
            }
            name="cut"
            value={cutAgoMs === undefined ? "none" : `${durationText(cutAgoMs)} ago`}
          />
        </>
      }
    >
      <TimeChart
        label="Rate sent, cuts and pauses"
        series={[
          { get: (one) => gateOf(one, subject)?.sent, color: "water", isFilled: true },
          {
            get: (one) => gateOf(one, subject)?.allowed,
            color: "text",
            isStepped: true,
            dash: [5, 3],
            width: 1.4,
          },
        ]}
        under={(plot) =>
          fillSpans(
            plot,
            hatch(plot.pen, plot.palette, { token: "text-2", alpha: 0.6 }),
            (one) => gateOf(one, subject)?.pause !== undefined,
          )
        }
        over={(plot) => markCuts(plot, subject)}
      />
    </Throttle>
  );
}

/** A triangle where the rate was cut: at the sample whose cut is younger than that of the sample before. */
function markCuts({ pen, palette, samples, x, y }: Plot, subject: VertexSubject | undefined): void {
  let before = Infinity;
  pen.fillStyle = palette.ink("amber-fill");
  for (const sample of samples) {
    const cut = gateOf(sample, subject)?.cut;
    if (cut !== undefined && cut.agoMs < before) {
      const [center, top] = [x(sample.atMs - cut.agoMs), y(cut.from ?? cut.to) - 4];
      pen.beginPath();
      pen.moveTo(center, top + 7);
      pen.lineTo(center - 4.5, top - 1);
      pen.lineTo(center + 4.5, top - 1);
      pen.fill();
    }
    before = cut?.agoMs ?? Infinity;
  }
}

/** How many requests are in flight, what the limit is, and how long an answer takes. */
export function ConcurrencyThrottle({ sample, subject }: GateProps): JSX.Element {
  const gate = gateOf(sample, subject);
  const reason = vertexOf(sample, subject)?.reason;
  return (
    <Throttle
      number={5}
      name={gate?.isAdaptive === false ? "Fixed concurrency" : "Adaptive concurrency"}
      state={
        gate === undefined ? (
          <StateTag state="idle" word="No service" />
        ) : reason === "concurrency" || reason === "rate" ? (
          <StateTag state="throttled" word={reason === "rate" ? "rate" : "full"} />
        ) : (
          <StateTag state={gate.sent < 0.5 ? "idle" : "flowing"} />
        )
      }
      legend={
        <>
          <Value
            swatch={<Swatch color="water" isFilled />}
            name="in flight"
            value={gate === undefined ? NOT_KNOWN : String(Math.round(gate.inFlight))}
          />
          <Value
            swatch={<Swatch color="text" dash="4 2" />}
            name="limit"
            value={gate?.limit === undefined ? NOT_KNOWN : countText(Math.floor(gate.limit))}
          />
          <Value
            swatch={<Swatch color="r-conn" dash="2 2" />}
            name="RTT"
            value={durationText(gate?.rttMs)}
          />
        </>
      }
    >
      <TimeChart
        label="Limit, in flight and round trip time"
        series={[
          { get: (one) => gateOf(one, subject)?.inFlight, color: "water", isFilled: true },
          {
            get: (one) => gateOf(one, subject)?.limit,
            color: "text",
            isStepped: true,
            dash: [5, 3],
            width: 1.4,
          },
          {
            get: (one) => gateOf(one, subject)?.rttMs,
            color: "r-conn",
            dash: [1.5, 2.5],
            width: 1.3,
            isAside: true,
          },
        ]}
      />
    </Throttle>
  );
}

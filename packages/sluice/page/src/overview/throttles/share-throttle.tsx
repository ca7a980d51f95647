import type { JSX } from "preact";
import type { LiveSample, LiveVertex } from "../../../../src/live/live-message.ts";
import { Swatch } from "../../chart/swatch.tsx";
import type { Plot } from "../../chart/time-chart.tsx";
import { TimeChart } from "../../chart/time-chart.tsx";
import { hatch } from "../../chart/texture.ts";
import { StateTag } from "../../parts/state-tag.tsx";
import { countText, durationText, rateText } from "../../words/numbers.ts";
import { vertexOf } from "./subject.ts";
import type { VertexSubject } from "./subject.ts";
import { Throttle, Value } from "./throttle.tsx";
import { fillSpans } from "./spans.ts";

/** What this member uses of its share, and the ramp of the ceiling that all members have together. */
export function ShareThrottle({
  sample,
  subject,
}: {
  readonly sample: LiveSample;
  readonly subject: VertexSubject | undefined;
}): JSX.Element {
  const vertex = vertexOf(sample, subject);
  const { share, ceiling, max, rampLeftMs, members = 1 } = vertex?.share ?? {};
  const top = members > 1 ? share : (ceiling ?? share);
  const limitOf = (one: LiveSample): number | undefined => {
    const found = vertexOf(one, subject)?.share;
    return found && (found.members > 1 ? found.share : (found.ceiling ?? found.share));
  };
  return (
    <Throttle
      number={3}
      name="Fleet share and ramp"
      state={<State vertex={vertex} />}
      legend={
        <>
          <Value
            swatch={<Swatch color="water" isFilled />}
            name="used"
            value={rateText(vertex?.rate)}
          />
          <Value
            swatch={<Swatch color="text" dash="4 2" />}
            name={members > 1 ? "share" : "ceiling"}
            value={rateText(top)}
          />
          {members > 1 && <Value name="ceiling" value={rateText(ceiling)} />}
          <Value
            name="max"
            value={countText(max)}
            more={rampLeftMs === undefined ? undefined : ` in ${durationText(rampLeftMs)}`}
          />
        </>
      }
    >
      <TimeChart
        label={`${subject?.vertex ?? "share"}: the share of this member and what it used`}
        series={[
          { get: (one) => vertexOf(one, subject)?.rate, color: "water", isFilled: true },
          { get: limitOf, color: "text", isStepped: true, width: 1.4, dash: [5, 3] },
        ]}
        under={(plot) => markLost(plot, subject)}
      />
    </Throttle>
  );
}

function State({ vertex }: { readonly vertex: LiveVertex | undefined }): JSX.Element {
  if (vertex?.share === undefined) return <StateTag state="idle" word="No shared rate" />;
  const { reason, share, rate } = vertex;
  if (reason === "store-lost") return <StateTag state="lost" />;
  if (reason === "fleet-joining") return <StateTag state="throttled" word="joining" />;
  if (reason === "fleet-share")
    return (
      <StateTag state="throttled" word={share.rampLeftMs === undefined ? "at max" : "ramping"} />
    );
  return <StateTag state={rate < 0.5 ? "idle" : "flowing"} />;
}

/** The time without a store is hatched. */
function markLost(plot: Plot, subject: VertexSubject | undefined): void {
  const fill = hatch(plot.pen, plot.palette, { token: "r-store", alpha: 0.55 });
  fillSpans(plot, fill, (one) => vertexOf(one, subject)?.reason === "store-lost");
}

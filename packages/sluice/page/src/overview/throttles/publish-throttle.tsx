import type { JSX } from "preact";
import type { LiveSample } from "../../../../src/live/live-message.ts";
import { Swatch } from "../../chart/swatch.tsx";
import { TimeChart } from "../../chart/time-chart.tsx";
import { StateTag } from "../../parts/state-tag.tsx";
import { topicName } from "../../words/names.ts";
import { NOT_KNOWN, rateText } from "../../words/numbers.ts";
import { publishNumbers } from "./subject.ts";
import type { PublishSubject } from "./subject.ts";
import { Throttle, Value } from "./throttle.tsx";

/** What the tightest limit of publishing takes, and what it is asked for. */
export function PublishThrottle({
  sample,
  subject,
}: {
  readonly sample: LiveSample;
  readonly subject: PublishSubject | undefined;
}): JSX.Element {
  const numbers = subject && publishNumbers(sample, subject);
  const name = subject === undefined ? "" : nameOf(subject);
  const get = (pick: "accepted" | "limit" | "asked") => (one: LiveSample) =>
    subject && publishNumbers(one, subject)?.[pick];
  return (
    <Throttle
      number={1}
      name="Publish limits"
      state={
        numbers === undefined ? (
          <StateTag state="idle" word={subject === undefined ? "No gateway" : "Idle"} />
        ) : numbers.isWaiting ? (
          <StateTag state="throttled" word={name} />
        ) : (
          <StateTag state={numbers.accepted < 0.5 ? "idle" : "flowing"} />
        )
      }
      legend={
        <>
          <Value
            swatch={<Swatch color="water" isFilled />}
            name="accepted"
            value={rateText(numbers?.accepted)}
          />
          <Value
            swatch={<Swatch color="text" dash="4 2" />}
            name="limit"
            value={
              numbers?.limit === undefined
                ? numbers === undefined
                  ? NOT_KNOWN
                  : "none"
                : rateText(numbers.limit)
            }
          />
          <Value
            swatch={<Swatch color="amber-fill" dash="2 2" />}
            name="asked"
            value={(numbers?.isAskedAtLeast === true ? "≥ " : "") + rateText(numbers?.asked)}
          />
        </>
      }
    >
      <TimeChart
        label={`${name}: asked, accepted and limit`}
        series={[
          { get: get("asked"), color: "amber-fill", width: 1.4, dash: [2, 3] },
          { get: get("accepted"), color: "water", isFilled: true },
          { get: get("limit"), color: "text", dash: [5, 3], width: 1.3, isStepped: true },
        ]}
      />
    </Throttle>
  );
}

function nameOf({ kind, name }: PublishSubject): string {
  return kind === "topic" ? topicName(name) : name;
}

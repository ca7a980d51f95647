import type { JSX } from "preact";
import type { LivePoolDetail, LivePoolPast } from "../../../../src/live/live-message.ts";
import { Icon } from "../../parts/icon.tsx";
import { clockTime } from "../../words/clock-time.ts";
import { agreementOf } from "../model/agreement.ts";
import { eventsOf, eventText } from "../model/pool-events.ts";

/** Whether what was told is within the ceiling and fair, or what is on its way. */
export function AgreementPanel({
  detail,
  past,
}: {
  readonly detail: LivePoolDetail;
  readonly past: readonly LivePoolPast[];
}): JSX.Element {
  const agreement = agreementOf(detail);
  const last = eventsOf(past).at(-1);
  return (
    <section class="panel" aria-labelledby="agreement-title">
      <header>
        <h2 id="agreement-title">Agreement</h2>
      </header>
      <div class="facts">
        {agreement === undefined ? (
          <p class="t2">
            {detail.replicas !== undefined && detail.replicas > 1
              ? "The settings divide the ceiling; the processes do not know of each other."
              : "A pool of one always agrees. Nothing to agree on without a store."}
          </p>
        ) : (
          <>
            <p class={`verdict ${agreement.tone}`}>
              <Icon name={agreement.icon} size={17} />
              {agreement.verdict}
            </p>
            <div class="equation">
              <Box value={agreement.told} label="told in all" />
              <i aria-hidden="true">{agreement.isWithin ? "≤" : ">"}</i>
              <Box value={agreement.ceiling} label="ceiling" />
              <i aria-hidden="true">and</i>
              <Box value={agreement.fair} label="have their fair share" />
            </div>
            <dl class="kv">
              {agreement.facts.map(([name, says]) => (
                <>
                  <dt>{name}</dt>
                  <dd>{says}</dd>
                </>
              ))}
              <dt>last change</dt>
              <dd>
                {last === undefined
                  ? "none in the last 15 min"
                  : `${eventText(last)}, ${clockTime(last.atMs, detail.atMs)}`}
              </dd>
            </dl>
          </>
        )}
      </div>
    </section>
  );
}

function Box({
  value,
  label,
}: {
  readonly value: string | undefined;
  readonly label: string;
}): JSX.Element {
  return (
    <div>
      <b class="num">{value ?? "?"}</b>
      <span>{label}</span>
    </div>
  );
}

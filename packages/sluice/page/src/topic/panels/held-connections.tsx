import type { JSX } from "preact";
import type { LiveTopicDetail } from "../../../../src/live/live-message.ts";
import { bytesText } from "../../words/numbers.ts";
import { namesText } from "../../words/phrase.ts";

/** From this part of its bound on a connection is worth a warm colour: it is about not to be read. */
const HOT_FROM = 0.5;

/** What each connection holds of its bound; at the bound its socket is not read. */
export function HeldConnections({ held }: Pick<LiveTopicDetail, "held">): JSX.Element {
  const max = held[0]?.max;
  return (
    <section class="panel" aria-labelledby="held-title">
      <header>
        <h2 id="held-title">Held by connection</h2>
        <span class="sp" />
        {max !== undefined && (
          <span class="sub">bound {bytesText(max).replace(".0 ", " ")} each</span>
        )}
      </header>
      {held.length === 0 ? (
        <p class="foot">No connection holds frames of this topic.</p>
      ) : (
        <div class="connections">
          {held.map((one) => (
            <Connection key={one.address} {...one} />
          ))}
        </div>
      )}
    </section>
  );
}

function Connection({
  address,
  producers,
  bytes,
  max,
}: LiveTopicDetail["held"][number]): JSX.Element {
  const part = max > 0 ? bytes / max : 0;
  return (
    <div>
      <span class="who">
        <b>{address}</b> <span class="t2">{namesText(producers)}</span>
      </span>
      <span class="num">{bytesText(bytes)}</span>
      <div
        class={`meter${part > HOT_FROM ? " hot" : ""}`}
        role="meter"
        aria-label={`Held by ${address}`}
        aria-valuemin={0}
        aria-valuemax={max}
        aria-valuenow={Math.min(max, bytes)}
        aria-valuetext={`${bytesText(bytes)} of ${bytesText(max)}`}
      >
        <i
          style={{
            width: `${Math.min(100, Math.max(bytes > 0 ? 0.8 : 0, part * 89)).toFixed(1)}%`,
          }}
        />
        <u style={{ left: "89%" }} />
      </div>
      <span class="t3">{part >= 1 ? "its socket is not read" : "its socket is read"}</span>
    </div>
  );
}

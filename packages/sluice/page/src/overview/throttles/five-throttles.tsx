import { useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { LiveSample } from "../../../../src/live/live-message.ts";
import { latest, peeked } from "../../live/live-store.ts";
import { BusyThrottle, ConcurrencyThrottle } from "./gate-throttles.tsx";
import { NoticesThrottle } from "./notices-throttle.tsx";
import { PublishThrottle } from "./publish-throttle.tsx";
import { ShareThrottle } from "./share-throttle.tsx";
import { publishSubject, vertexSubject } from "./subject.ts";
import type { PublishSubject, VertexSubject } from "./subject.ts";

interface Subjects {
  readonly publish: PublishSubject | undefined;
  readonly share: VertexSubject | undefined;
  readonly gate: VertexSubject | undefined;
}

/** The five throttles, each with the values at the cursor. */
export function FiveThrottles(): JSX.Element {
  const before = useRef<Subjects | undefined>(undefined);
  const subjects = useComputed(() => {
    const sample = latest.value;
    if (sample !== undefined) before.current = subjectsOf(sample, before.current);
    return before.current;
  });
  const sample = peeked.value;
  const { value } = subjects;
  if (sample === undefined || value === undefined)
    return (
      <section class="panel five" aria-label="The five throttles">
        {[1, 2, 3, 4, 5].map((number) => (
          <div class="throttle" key={number}>
            <div class="skeleton tall" />
          </div>
        ))}
      </section>
    );
  const { publish, share, gate } = value;
  return (
    <section class="panel five" aria-label="The five throttles">
      <PublishThrottle
        key={`1 ${publish?.kind} ${publish?.name}`}
        sample={sample}
        subject={publish}
      />
      <NoticesThrottle key="2" sample={sample} />
      <ShareThrottle
        key={`3 ${share?.pipeline}/${share?.vertex}`}
        sample={sample}
        subject={share}
      />
      <BusyThrottle key={`4 ${gate?.pipeline}/${gate?.vertex}`} sample={sample} subject={gate} />
      <ConcurrencyThrottle
        key={`5 ${gate?.pipeline}/${gate?.vertex}`}
        sample={sample}
        subject={gate}
      />
    </section>
  );
}

function subjectsOf(sample: LiveSample, before: Subjects | undefined): Subjects {
  return {
    publish: publishSubject(sample, before?.publish),
    share: vertexSubject(sample, "share", before?.share),
    gate: vertexSubject(sample, "gate", before?.gate),
  };
}

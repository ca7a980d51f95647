import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { LiveGateway } from "../../../src/live/live-message.ts";
import { Headline } from "../frame/headline.tsx";
import { lostForMs } from "../frame/connection-badge.tsx";
import { pinnedAtMs, shown, topicDetail, watch } from "../live/live-store.ts";
import { Words } from "../parts/words.tsx";
import { ShareChart } from "./chart/share-chart.tsx";
import { draft, draftedLimit } from "./draft.ts";
import { LimitEditor } from "./editor/limit-editor.tsx";
import { HeldView } from "./held-view.tsx";
import { LimitNav } from "./limit-nav.tsx";
import { headlineOf } from "./model/headline.ts";
import { firstTarget } from "./model/limit-list.ts";
import { limitScale } from "./model/limit-scale.ts";
import type { LimitScale } from "./model/limit-scale.ts";
import { viewOf } from "./model/limit-view.ts";
import type { LimitView } from "./model/limit-view.ts";
import { enoughFor, predict } from "./model/prediction.ts";
import { setLimitOf, withQuiet } from "./model/quiet-limits.ts";
import { keyOf, targetOf } from "./model/target.ts";
import type { Target } from "./model/target.ts";
import { notices } from "./notice-store.ts";
import { MissingTopic, NoGateway } from "./no-topic.tsx";
import { HeldConnections } from "./panels/held-connections.tsx";
import { LastTurns } from "./panels/last-turns.tsx";
import { LimitChanges } from "./panels/limit-changes.tsx";
import { Notices } from "./panels/notices.tsx";
import { ProducerTable } from "./panels/producer-table.tsx";
import { setLimits, useSetLimits } from "./set-limits.ts";

/** The limits of publishing: who uses one up, is it shared fairly, what would another number do? */
export function TopicPage({ rest }: { readonly rest: string }): JSX.Element {
  const sample = shown.value;
  useSetLimits();
  const gateway = sample?.gateway && withQuiet(sample.gateway, setLimits.value);
  // `/topics` keeps to the limit that it has shown first: another that begins to wait must not replace it.
  const first = useRef<Target | undefined>(undefined);
  const named = targetOf(rest);
  if (named === undefined && gateway !== undefined) first.current ??= firstTarget(gateway);
  const target = named ?? first.current;
  const watched = target?.kind === "topic" ? target.name : undefined;
  useEffect(() => watch(watched === undefined ? {} : { topic: watched }), [watched]);
  useEffect(() => () => watch({}), []);
  if (sample === undefined) return <Headline />;
  if (gateway === undefined) return <NoGateway />;
  return (
    <div class={`topic-page${lostForMs.value === undefined ? "" : " stale"}`}>
      <LimitNav gateway={gateway} target={target} />
      <div class="content">
        {target === undefined ? (
          <Headline />
        ) : target.kind === "held" ? (
          <HeldView gateway={gateway} />
        ) : (
          <TargetView key={keyOf(target)} target={target} gateway={gateway} />
        )}
      </div>
    </div>
  );
}

function TargetView({
  target,
  gateway,
}: {
  readonly target: LimitView["target"];
  readonly gateway: LiveGateway;
}): JSX.Element {
  // Of a past instant only the sample is known.
  const detail = pinnedAtMs.value === undefined ? topicDetail.value : undefined;
  const view = viewOf(target, shown.value && { ...shown.value, gateway }, detail);
  const { place, setAt } = detail?.setting ?? setLimitOf(target, setLimits.value) ?? {};
  const scale = useScale(typeof view === "object" ? view : undefined);
  if (view === undefined) return <Headline />;
  if (view === "no gateway") return <NoGateway />;
  if (view === "missing") return <MissingTopic target={target} gateway={gateway} />;
  const key = keyOf(target);
  const edits = draft.value.key === key ? draft.value : { key };
  const tried = draftedLimit(view.limit, edits) ?? view.limit;
  const nowMs = shown.value?.atMs ?? 0;
  const mine = detail?.name === (target.kind === "topic" ? target.name : "") ? detail : undefined;
  return (
    <>
      <Headline>
        <Words of={headlineOf(view)} />
      </Headline>
      <div class="chart-and-editor">
        <ShareChart
          view={view}
          prediction={predict(view, tried)}
          scale={scale}
          tried={tried?.messages}
          onTry={(value) => {
            draft.value = { ...edits, messages: value.toLocaleString("en-US") };
          }}
        />
        <LimitEditor
          view={view}
          gateway={gateway}
          detail={mine}
          scale={scale}
          place={place ?? (setAt === undefined ? undefined : `set at ${setAt}`)}
        />
      </div>
      <ProducerTable view={view} />
      {mine !== undefined && (
        <div class="three">
          <LastTurns detail={mine} />
          <Notices
            notices={notices.value.topic === mine.name ? notices.value.notices : []}
            nowMs={nowMs}
          />
          <HeldConnections held={mine.held} />
        </div>
      )}
      <LimitChanges target={target} nowMs={nowMs} />
    </>
  );
}

/** The scale stays while what is asked moves within it, so that the line does not jump under the pointer. */
function useScale(view: LimitView | undefined): LimitScale {
  const kept = useRef<LimitScale | undefined>(undefined);
  const wanted = limitScale(
    view === undefined
      ? []
      : [enoughFor(view), (view.limit?.messages ?? 0) * 1.2, view.rate.messages],
  );
  const before = kept.current;
  const isFit =
    before !== undefined && before.most >= wanted.most && before.most <= 2 * wanted.most;
  kept.current = isFit ? before : wanted;
  return kept.current;
}

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { LiveGateway, LiveLimit, LiveTopicDetail } from "../../../../src/live/live-message.ts";
import { askForToken } from "../../frame/token.ts";
import { canChange, isOpen } from "../../live/live-store.ts";
import { Icon } from "../../parts/icon.tsx";
import { bytesText, limitText, wholeText } from "../../words/numbers.ts";
import { byteUnit, draft, draftedLimit, isSameLimit } from "../draft.ts";
import { effectsOf } from "../model/effects.ts";
import { snapTo } from "../model/limit-scale.ts";
import type { LimitScale } from "../model/limit-scale.ts";
import type { LimitView } from "../model/limit-view.ts";
import { enoughFor, predict } from "../model/prediction.ts";
import { keyOf } from "../model/target.ts";
import { applyLimit } from "./apply-limit.ts";
import { EffectList } from "./effect-list.tsx";
import { LimitSlider } from "./limit-slider.tsx";
import { NumberField } from "./number-field.tsx";
import { YamlDiff } from "./yaml-diff.tsx";

export interface LimitEditorProps {
  readonly view: LimitView;
  readonly gateway: LiveGateway;
  readonly detail: LiveTopicDetail | undefined;
  readonly scale: LimitScale;
  /** Where the limit is set, for people: `flow.yaml:12`. */
  readonly place: string | undefined;
}

type Phase = "idle" | "applying" | "applied" | { readonly refused: string };

/** The limit in messages and bytes, what another number would do, and its lines of the flow file. */
export function LimitEditor({
  view,
  gateway,
  detail,
  scale,
  place,
}: LimitEditorProps): JSX.Element {
  const [phase, setPhase] = useState<Phase>("idle");
  const key = keyOf(view.target);
  const edits = draft.value.key === key ? draft.value : { key };
  const { limit } = view;
  const wanted = draftedLimit(limit, edits);
  const isDirty = wanted === undefined || !isSameLimit(wanted, limit);
  const discard = (): void => {
    draft.value = { key };
    setPhase("idle");
  };
  // What was applied stays in the fields until the stream has it, so that no number jumps back.
  useEffect(() => {
    if (phase === "applied" && !isDirty) discard();
  });
  useEffect(() => setPhase("idle"), [key]);
  const edit = (change: { readonly messages?: string; readonly bytes?: string }): void => {
    draft.value = { ...edits, ...change };
    setPhase("idle");
  };
  const isLocked = !canChange.value || !isOpen.value;
  const apply = async (): Promise<void> => {
    if (!isDirty || wanted === undefined || isLocked || phase === "applying") return;
    setPhase("applying");
    const isOfFile = limit !== undefined && place?.includes(":") === true && !place.includes(" ");
    const applied = await applyLimit(view, wanted, { isOfFile });
    setPhase(applied === "read only" ? "idle" : applied);
  };
  const prediction = predict(view, wanted);
  const unit = byteUnit(limit?.bytes);
  const bytesOf = (bytes: number | undefined): string =>
    bytes === undefined ? "" : String(Math.round((bytes / unit.bytes) * 1_000) / 1_000);
  const enough = enoughFor(view);
  const messages = wanted?.messages;
  return (
    <section class="panel limit-editor" aria-labelledby="editor-title">
      <header>
        <h2 id="editor-title">Limit of {view.label}</h2>
        <span class="sp" />
        <span class="sub mono">{place ?? (limit === undefined ? "not set" : "")}</span>
      </header>
      <div class="body">
        {limit === undefined && (
          <p class="t2">
            Nothing is limited here. Set a number to limit {view.label}; what it would do is shown
            first.
          </p>
        )}
        <div class="field">
          <NumberField
            id="limit-messages"
            label="Messages"
            unit="/s"
            text={
              edits.messages ?? (limit?.messages === undefined ? "" : wholeText(limit.messages))
            }
            value={messages}
            isDirty={wanted !== undefined && messages !== limit?.messages}
            isWrong={wanted === undefined && edits.messages !== undefined}
            onText={(text) => edit({ messages: text })}
            onStep={(count) =>
              edit({
                messages: wholeText(
                  Math.max(1, (messages ?? suggested(view, scale)) + count * scale.step * 2),
                ),
              })
            }
            onApply={() => void apply()}
            onDiscard={discard}
          />
          <LimitSlider
            scale={scale}
            value={messages}
            now={limit?.messages}
            enough={view.reason === undefined ? undefined : enough}
            onValue={(value) => edit({ messages: wholeText(value) })}
          />
        </div>
        <div class="field">
          <NumberField
            id="limit-bytes"
            label="Bytes"
            unit={`${unit.name}/s`}
            text={edits.bytes ?? bytesOf(limit?.bytes)}
            value={wanted?.bytes}
            isDirty={wanted !== undefined && wanted.bytes !== limit?.bytes}
            isWrong={wanted === undefined && edits.bytes !== undefined}
            onText={(text) => edit({ bytes: text })}
            onStep={(count) =>
              edit({
                bytes: bytesOf(Math.max(unit.bytes, (wanted?.bytes ?? 0) + count * unit.bytes)),
              })
            }
            onApply={() => void apply()}
            onDiscard={discard}
          />
          <span class="was">{bytesWords(view)}</span>
        </div>
        <EffectList
          title={effectTitle(wanted, limit)}
          effects={
            wanted === undefined
              ? []
              : effectsOf(view, prediction, { gateway, reader: detail?.reader, isChange: isDirty })
          }
        />
        <YamlDiff target={view.target} before={limit} after={wanted ?? limit} />
        <Scope isKept={detail?.setting.isKept} level={detail?.setting.level} target={view.target} />
        {typeof phase === "object" && (
          <p class="wrong" role="alert">
            Refused: {phase.refused}. Nothing has changed.
          </p>
        )}
        <div class="actions">
          <button
            class="btn primary"
            type="button"
            disabled={
              !isDirty ||
              wanted === undefined ||
              isLocked ||
              phase === "applying" ||
              phase === "applied"
            }
            onClick={() => void apply()}
          >
            {!canChange.value && <Icon name="lock" size={12} />}
            {phase === "applying"
              ? "Applying"
              : view.isShared
                ? "Apply to the whole fleet"
                : "Apply"}
          </button>
          <button class="btn ghost" type="button" disabled={!isDirty} onClick={discard}>
            Discard
          </button>
          {!canChange.value && isOpen.value && (
            <button class="link" type="button" onClick={askForToken}>
              give a token to apply it
            </button>
          )}
          {!isOpen.value && <span class="t3">not connected</span>}
        </div>
      </div>
    </section>
  );
}

/** Where a limit that is not there yet begins: a little above what flows. */
function suggested(view: LimitView, scale: LimitScale): number {
  return snapTo(scale, Math.max(view.asked, view.rate.messages) * 1.2);
}

/** Names only what would change. */
function effectTitle(wanted: LiveLimit | undefined, limit: LiveLimit | undefined): string {
  if (wanted === undefined) return "Expected a whole number, such as 1,000";
  if (isSameLimit(wanted, limit))
    return limit === undefined ? "What happens without a limit" : "What this limit does";
  const isSameMessages = wanted.messages === limit?.messages;
  const isSameBytes = wanted.bytes === limit?.bytes;
  const changed = isSameBytes
    ? { messages: wanted.messages }
    : isSameMessages
      ? { bytes: wanted.bytes }
      : wanted;
  return `What ${limitText(changed)} would do`;
}

function bytesWords({ limit, rate }: LimitView): string {
  const uses = `uses ${bytesText(rate.bytes)}/s`;
  if (limit?.bytes === undefined) return uses;
  return rate.bytes >= limit.bytes * 0.98
    ? `at its limit; ${uses}`
    : `nothing waits for it; ${uses}`;
}

/** How long a change lasts, and how far it reaches. */
function Scope({
  isKept,
  level,
  target,
}: {
  readonly isKept: boolean | undefined;
  readonly level: LiveTopicDetail["setting"]["level"];
  readonly target: LimitView["target"];
}): JSX.Element {
  const from =
    target.kind === "topic" && (level === "namespace" || level === "default")
      ? `The limit is that of ${level === "namespace" ? "its namespace" : "all topics"}; a change here is of this topic alone. `
      : "";
  const lasts =
    isKept === undefined
      ? "A change holds before the flow file until it is taken back."
      : isKept
        ? "A change holds before the flow file, also after a restart."
        : "A change lasts until the gateway is restarted.";
  return (
    <p class="scope">
      {from}
      {lasts}
    </p>
  );
}

import type { JSX } from "preact";
import type { LivePoolDetail } from "../../../../src/live/live-message.ts";
import { Canvas } from "../../chart/canvas.tsx";
import type { Sheet } from "../../chart/canvas.tsx";
import { StateTag } from "../../parts/state-tag.tsx";
import { countText, durationText, rateText } from "../../words/numbers.ts";
import { isWithoutStore } from "../model/pool-standing.ts";

const SPARK_HEIGHT = 34;

/** The store: does it answer, how fast, and what happens if it is lost. */
export function StorePanel({
  detail,
  answers,
}: {
  readonly detail: LivePoolDetail;
  /** How long its latest answers took, ms; undefined where none came. */
  readonly answers: readonly (number | undefined)[];
}): JSX.Element {
  const { store, settings, share, replicas } = detail;
  const own = detail.members.find(({ isThis }) => isThis);
  if (isWithoutStore(detail))
    return (
      <Panel state={<StateTag state="idle" word={replicas === undefined ? "In memory" : "None"} />}>
        <dl class="kv">
          <dt>kind</dt>
          <dd>{replicas === undefined ? "memory" : `replicas: ${replicas}`}</dd>
          <dt>members</dt>
          <dd>{replicas === undefined || replicas === 1 ? "this process only" : "not counted"}</dd>
        </dl>
      </Panel>
    );
  const { isAnswering } = store;
  return (
    <Panel
      state={
        isAnswering ? <StateTag state="flowing" word="Answering" /> : <StateTag state="lost" />
      }
    >
      <dl class="kv">
        <dt>redis</dt>
        <dd class="mono address">{store.address}</dd>
        <dt>answers in</dt>
        <dd class="num">
          {isAnswering ? (
            `${durationText(store.answerMs)} of ${durationText(settings.storeTimeoutMs)}`
          ) : (
            <span class="lost">no answer, {durationText(own?.syncAgeMs)}</span>
          )}
        </dd>
      </dl>
      <div class="spark">
        <Canvas
          height={SPARK_HEIGHT}
          label="Time of the latest answers of the store; the number above is the newest"
          draw={(sheet) => drawSpark(sheet, answers, isAnswering)}
        />
      </div>
      <dl class="kv">
        <dt>syncs</dt>
        <dd class="num">{(1_000 / settings.syncMs).toFixed(1)}/s per member, none per message</dd>
        <dt>missed syncs</dt>
        <dd class="num">{countText(store.missedSyncs)} in a row</dd>
        <dt>if it is lost</dt>
        <dd>
          <code>{settings.onStoreLoss}</code>
          {settings.onStoreLoss === "safe-share" && share.ceiling !== undefined && (
            <span class="num">
              {" "}
              = {countText(share.ceiling)} ÷ {countText(settings.maxMembers)} ={" "}
              {rateText(settings.safeShare)}
            </span>
          )}
        </dd>
        <dt>level kept</dt>
        <dd class="num">
          {settings.resumeTtlMs > 0 ? durationText(settings.resumeTtlMs) : "not kept"}
        </dd>
      </dl>
    </Panel>
  );
}

function Panel({
  state,
  children,
}: {
  readonly state: JSX.Element;
  readonly children: JSX.Element | readonly JSX.Element[];
}): JSX.Element {
  return (
    <section class="panel" aria-labelledby="store-title">
      <header>
        <h2 id="store-title">Store</h2>
        <span class="sp" />
        {state}
      </header>
      <div class="facts">{children}</div>
    </section>
  );
}

function drawSpark(
  { pen, palette: { ink }, width, height }: Sheet,
  answers: readonly (number | undefined)[],
  isAnswering: boolean,
): void {
  const most = Math.max(1, ...answers.map((ms) => ms ?? 0)) * 1.2;
  const x = (index: number): number => (index / Math.max(1, answers.length - 1)) * width;
  const y = (ms: number): number => height - 2 - (ms / most) * (height - 6);
  pen.strokeStyle = ink(isAnswering ? "water" : "r-store");
  pen.lineWidth = 1.6;
  pen.beginPath();
  let isDown = false;
  for (const [index, ms] of answers.entries()) {
    if (ms === undefined) isDown = false;
    else if (isDown) pen.lineTo(x(index), y(ms));
    else pen.moveTo(x(index), y(ms));
    isDown = ms !== undefined;
  }
  pen.stroke();
}

import type { JSX } from "preact";
import type { LivePoolDetail, LivePoolPast } from "../../../../src/live/live-message.ts";
import { Icon } from "../../parts/icon.tsx";
import { durationText, percentText, rateText } from "../../words/numbers.ts";
import { dividedBar } from "../model/divided-bar.ts";
import type { Piece } from "../model/divided-bar.ts";
import { isWithoutStore, standingOf } from "../model/pool-standing.ts";
import { mostTold } from "../model/pool-use.ts";
import { LabButton } from "./lab-button.tsx";

/** A narrower rest, as a part of the bar, has no room for its words. */
const WRITTEN_FROM = 0.1;

/** Who may use how much of the ceiling: width is rate, the filled part was used. */
export function DividedBarPanel({
  detail,
  past,
}: {
  readonly detail: LivePoolDetail;
  readonly past: readonly LivePoolPast[];
}): JSX.Element {
  const { pieces, marks, sum, verdict, isOver } = dividedBar(detail);
  const { settings } = detail;
  const isLost = standingOf(detail) === "store lost";
  const isAllKnown = pieces.every((piece) => piece.kind !== "member" || piece.used !== undefined);
  const most = isLost || isWithoutStore(detail) ? undefined : mostTold(past);
  return (
    <section class="panel" aria-labelledby="bar-title">
      <header>
        <h2 id="bar-title">One ceiling, shared</h2>
        <span class="sub">
          {isLost
            ? `${settings.onStoreLoss}: a lease of ${durationText(settings.leaseMs)} has ended without an answer`
            : `width is rate; the filled part was used in the last second${isAllKnown ? "" : ", where it is known"}`}
        </span>
        <span class="sp" />
        <LabButton detail={detail} />
      </header>
      <div class="divided">
        <ul class="bar" aria-label="Members and their shares">
          {pieces.map((piece) => (
            <Part
              key={piece.kind === "rest" ? "rest" : piece.id}
              piece={piece}
              isLeased={!isWithoutStore(detail)}
            />
          ))}
        </ul>
        <div class="axis" aria-hidden="true">
          {marks.map(({ at, text }) => (
            <span
              key={text}
              class={at === 0 ? "first" : at === 1 ? "last" : at < 0.2 || at > 0.7 ? "near" : ""}
              style={{ left: `${(at * 100).toFixed(2)}%` }}
            >
              {text}
            </span>
          ))}
        </div>
        <p class="sum">
          <span class="num strong">{sum}</span>
          <span class={isOver ? "over" : "within"}>
            <Icon name={isOver ? "error" : "ok"} size={13} />
            {verdict}
          </span>
          {most !== undefined && (
            <span class="t3 extra">most told at once in the last 15 min: {most.toFixed(2)} ×</span>
          )}
        </p>
      </div>
    </section>
  );
}

function Part({
  piece,
  isLeased,
}: {
  readonly piece: Piece;
  readonly isLeased: boolean;
}): JSX.Element {
  const flex = `${Math.max(0.002, piece.width).toFixed(4)} 0 0`;
  if (piece.kind === "rest")
    return (
      <li class="rest" style={{ flex }} title={piece.text}>
        {piece.width > WRITTEN_FROM && <span>{piece.text}</span>}
      </li>
    );
  const { kind, id, isThis, share, used } = piece;
  const says = kind === "joining" && share < 0.5 ? "waits" : rateText(share);
  return (
    <li
      class={`member ${kind}${isThis ? " this" : ""}${used === undefined ? " unknown" : ""}`}
      style={{ flex }}
      title={`${id}: ${rateText(share)}${used === undefined ? "" : `, ${percentText(used)} used`}`}
    >
      <i style={{ width: `${(Math.min(1, used ?? 0) * 100).toFixed(1)}%` }} />
      <div>
        <span>
          {id}
          {isThis && isLeased && ", this one"}
        </span>
        <b class="num">{says}</b>
      </div>
    </li>
  );
}

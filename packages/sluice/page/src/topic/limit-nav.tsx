import type { JSX } from "preact";
import type { LiveGateway } from "../../../src/live/live-message.ts";
import { Icon } from "../parts/icon.tsx";
import { REASON_LOOKS } from "../words/reasons.ts";
import { limitList } from "./model/limit-list.ts";
import type { ListedLimit } from "./model/limit-list.ts";
import { keyOf, pathOf } from "./model/target.ts";
import type { Target } from "./model/target.ts";

/** The list of limits: where what is looked at stands among the others. */
export function LimitNav({
  gateway,
  target,
}: {
  readonly gateway: LiveGateway;
  readonly target: Target | undefined;
}): JSX.Element {
  const current = target && keyOf(target);
  return (
    <nav class="limits" aria-label="Limits">
      {limitList(gateway).map(({ heading, limits, leftOut }) => (
        <section key={heading}>
          <h2>{heading}</h2>
          {limits.map((limit) => (
            <Line
              key={keyOf(limit.target)}
              limit={limit}
              isCurrent={keyOf(limit.target) === current}
            />
          ))}
          {leftOut > 0 && <p class="left-out">{leftOut} more, quiet now</p>}
        </section>
      ))}
    </nav>
  );
}

function Line({
  limit,
  isCurrent,
}: {
  readonly limit: ListedLimit;
  readonly isCurrent: boolean;
}): JSX.Element {
  const { target, label, value, part, reason, isBelow } = limit;
  const look = reason && REASON_LOOKS[reason];
  return (
    <a
      href={pathOf(target)}
      class={isBelow ? "below" : undefined}
      aria-current={isCurrent ? "page" : undefined}
      title={"name" in target ? target.name : undefined}
    >
      <span class="name">
        {look !== undefined && <Icon name={look.family} size={12} class={`ink-${look.color}`} />}
        <span class="text">{label}</span>
        {reason !== undefined && <span class="sr">, {reason}</span>}
      </span>
      <span class="value num">{value}</span>
      {part !== undefined && (
        <span class={`meter${reason === undefined ? "" : " hot"}`} aria-hidden="true">
          <i style={{ width: `${Math.min(100, part * 89).toFixed(1)}%` }} />
          <u style={{ left: "89%" }} />
        </span>
      )}
    </a>
  );
}

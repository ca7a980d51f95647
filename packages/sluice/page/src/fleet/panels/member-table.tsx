import type { JSX } from "preact";
import type { LiveMember, LivePoolDetail } from "../../../../src/live/live-message.ts";
import { StateTag } from "../../parts/state-tag.tsx";
import type { FlowState } from "../../parts/state-tag.tsx";
import { durationText, NOT_KNOWN, percentText, rateText } from "../../words/numbers.ts";
import { inOrder, isWithoutStore, standingOf } from "../model/pool-standing.ts";

const STATES: Readonly<Record<LiveMember["state"], readonly [FlowState, string]>> = {
  holds: ["flowing", "Holds its share"],
  releasing: ["flowing", "Makes room"],
  joining: ["paused", "Joining"],
  "safe-share": ["lost", "Safe share"],
  "lease-ended": ["idle", "Lease ended"],
  left: ["idle", "Left"],
};

/** A lease with less than this part left is worth a warm colour: two syncs have failed. */
const LOW_FROM = 0.4;

/** Every member, what it may use, and for how long. */
export function MemberTable({ detail }: { readonly detail: LivePoolDetail }): JSX.Element {
  const { settings, members } = detail;
  const isLost = standingOf(detail) === "store lost";
  const isLeased = !isWithoutStore(detail);
  const hasWhere = members.some(({ where }) => where !== undefined);
  const hasAge = members.some(({ upForMs }) => upForMs !== undefined);
  const hasWants = members.some(({ wanted }) => wanted !== undefined);
  return (
    <section class="panel" aria-labelledby="members-title">
      <header>
        <h2 id="members-title">Members</h2>
        <span class="sub">
          {isLeased
            ? `lease ${durationText(settings.leaseMs).replace(".0 s", " s")}, sync every ${durationText(settings.syncMs)}; what others have left is an upper bound`
            : "without a store there is no lease and no sync"}
        </span>
      </header>
      <div class="scroll-x">
        <table class="t members">
          <thead>
            <tr>
              <th scope="col">member</th>
              {hasWhere && (
                <th scope="col" class="extra">
                  where
                </th>
              )}
              {isLeased && (
                <th scope="col" class="extra">
                  incarnation
                </th>
              )}
              <th scope="col" class="r">
                share
              </th>
              <th scope="col" class="r extra">
                used
              </th>
              {hasWants && (
                <th
                  scope="col"
                  class="r extra"
                  title="what it would use if it could, as of its last sync"
                >
                  wants
                </th>
              )}
              {isLeased && (
                <>
                  <th scope="col">lease left</th>
                  <th scope="col" class="r extra">
                    last sync
                  </th>
                  {hasAge && (
                    <th
                      scope="col"
                      class="r extra"
                      title="since it joined what the store remembers of the pool"
                    >
                      here for
                    </th>
                  )}
                </>
              )}
              <th scope="col">state</th>
            </tr>
          </thead>
          <tbody>
            {inOrder(members).map((member) => (
              <Row
                key={`${member.id} ${member.incarnation}`}
                member={member}
                leaseMs={settings.leaseMs}
                isLeased={isLeased}
                hasAge={hasAge}
                isUnseen={isLost && !member.isThis}
                hasWhere={hasWhere}
                hasWants={hasWants}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface RowProps {
  readonly member: LiveMember;
  readonly leaseMs: number;
  readonly isLeased: boolean;
  readonly hasAge: boolean;
  readonly isUnseen: boolean;
  readonly hasWhere: boolean;
  readonly hasWants: boolean;
}

function Row({
  member,
  leaseMs,
  isLeased,
  hasAge,
  isUnseen,
  hasWhere,
  hasWants,
}: RowProps): JSX.Element {
  const { id, isThis, where, incarnation, share, used, wanted, syncAgeMs, upForMs, state } = member;
  const isGone =
    member.goneForMs !== undefined ||
    state === "left" ||
    (state === "lease-ended" && !isThis && !isUnseen);
  const [look, word] = isUnseen && !isGone ? (["idle", "Not seen"] as const) : STATES[state];
  const isBlind = isUnseen || isGone;
  const dash = <span class="t3">{NOT_KNOWN}</span>;
  return (
    <tr class={isGone ? "gone" : undefined} data-row tabIndex={-1}>
      <td>
        <b class={isGone ? undefined : "strong"}>{id}</b>
        {isThis && isLeased && <span class="t3 extra"> this one</span>}
      </td>
      {hasWhere && <td class="t2 extra">{where === undefined ? dash : whereText(where)}</td>}
      {isLeased && <td class="mono t3 extra">{incarnation === "" ? NOT_KNOWN : incarnation}</td>}
      <td class="r num strong">
        {isGone ? dash : isUnseen ? <span class="t3">not known</span> : rateText(share)}
      </td>
      <td class="r num extra used">{isBlind || used === undefined ? dash : percentText(used)}</td>
      {hasWants && (
        <td class="r num extra">{isBlind || wanted === undefined ? dash : rateText(wanted)}</td>
      )}
      {isLeased && (
        <>
          <td class="lease-left">
            <Lease member={member} leaseMs={leaseMs} isUnseen={isUnseen} isGone={isGone} />
          </td>
          <td class="r num extra">
            {durationText(syncAgeMs)}
            {isBlind ? " ago" : ""}
          </td>
          {hasAge && (
            <td class="r num t2 extra">{upForMs === undefined ? dash : durationText(upForMs)}</td>
          )}
        </>
      )}
      <td>
        <StateTag state={look} word={word} />
      </td>
    </tr>
  );
}

/** `shop-1:4121` as people read it. */
function whereText(where: string): string {
  return where.replace(/:(\d+)$/, " · pid $1");
}

function Lease({
  member: { isThis, leaseLeftMs, state },
  leaseMs,
  isUnseen,
  isGone,
}: {
  readonly member: LiveMember;
  readonly leaseMs: number;
  readonly isUnseen: boolean;
  readonly isGone: boolean;
}): JSX.Element {
  if (state === "left") return <span>given back</span>;
  if (isGone) return <span>ended</span>;
  const left = isUnseen ? undefined : leaseLeftMs;
  const part = left === undefined ? 0 : Math.min(1, Math.max(0, left / leaseMs));
  const words =
    left === undefined
      ? isUnseen
        ? "not known"
        : state === "joining"
          ? "none yet"
          : "ended"
      : `${isThis ? "" : "≤ "}${(Math.max(0, left) / 1_000).toFixed(1)} s`;
  return (
    <>
      <span
        class={`lease${part < LOW_FROM ? " low" : ""}${left === undefined ? " unleased" : ""}`}
        aria-hidden="true"
      >
        <i style={{ width: `${(part * 100).toFixed(1)}%` }} />
      </span>
      <span class={left === undefined && isUnseen ? "num t3" : "num"}>{words}</span>
    </>
  );
}

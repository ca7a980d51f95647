import type { FleetState, PoolRoster, RosterMember } from "@sluice/fleet";
import type { LiveMember, LivePoolDetail, LiveShare } from "../live-message.ts";
import { rounded } from "../sample/rounded.ts";
import type { RosterWatch } from "./pool-roster.ts";
import type { PoolSettings } from "./pool-settings.ts";

/** Syncs in a row without an answer after which a store counts as silent. One may be missed on a busy machine. */
const SILENT_SYNCS = 3;

/** Shares are counted in parts of the ceiling. */
const PARTS = 1_000_000_000;

/** A pool of which this process is a member. */
export interface OwnPool {
  readonly pool: string;
  /** What its limit is of: "orders/in", "group analytics". */
  readonly of: string;
  readonly fleet: FleetState | undefined;
  readonly share: LiveShare;
  readonly settings: PoolSettings;
}

/** The pool as a page shows it. Without a store, this member is all that is known. */
export function poolDetail(
  { pool, of, fleet, share, settings }: OwnPool,
  watch: Pick<RosterWatch, "known" | "address" | "isAnswering" | "answerMs"> | undefined,
  { nowMs, wallMs }: { readonly nowMs: number; readonly wallMs: number },
): LivePoolDetail {
  const ceiling = share.ceiling ?? 0;
  const { known } = watch ?? {};
  const ageMs = known === undefined ? 0 : nowMs - known.atMs;
  const roster = known?.roster;
  const members =
    roster === undefined
      ? [aloneOf(fleet, share, settings)]
      : roster.members.map((member) =>
          liveMember(member, roster, { ceiling, ageMs, fleet, safeShare: settings.safeShare }),
        );
  const timing = roster?.timing;
  const syncMs = timing?.syncIntervalMs ?? settings.syncMs;
  const syncAgeMs = fleet?.membership?.syncAgeMs;
  const learningMs = fleet?.membership?.learningMs ?? 0;
  // A sync is answered before the next one, so more than one interval without an answer is a missed one.
  const missedSyncs =
    watch === undefined || syncAgeMs === undefined
      ? 0
      : Math.max(0, Math.floor(syncAgeMs / syncMs) - 1);
  return {
    atMs: Math.round(wallMs),
    pool,
    of,
    share,
    members,
    sum: exact(members.reduce((sum, one) => sum + one.share, 0)),
    settings: {
      ...settings,
      syncMs,
      leaseMs: timing?.leaseMs ?? settings.leaseMs,
      storeTimeoutMs: timing?.timeoutMs ?? settings.storeTimeoutMs,
    },
    ...(learningMs > 0 && { learningMs: Math.round(learningMs) }),
    store: {
      address: watch?.address ?? "memory",
      // The member's own syncs tell before the first question of a page is answered or given up.
      isAnswering: watch === undefined || (watch.isAnswering && missedSyncs < SILENT_SYNCS),
      answerMs: watch?.answerMs === undefined ? undefined : rounded(watch.answerMs),
      missedSyncs,
    },
  };
}

interface MemberWorld {
  readonly ceiling: number;
  /** Age of the roster. */
  readonly ageMs: number;
  readonly fleet: FleetState | undefined;
  readonly safeShare: number;
}

function liveMember(
  member: RosterMember,
  { timing }: PoolRoster,
  { ceiling, ageMs, fleet, safeShare }: MemberWorld,
): LiveMember {
  const isThis = member.id === fleet?.member;
  const syncAgeMs = Math.round(
    isThis ? (fleet.membership?.syncAgeMs ?? 0) : member.syncAgeMs + ageMs,
  );
  const leaseLeftMs = Math.round(
    isThis ? (fleet.membership?.leaseLeftMs ?? 0) : Math.max(0, member.leaseLeftMs - ageMs),
  );
  const promised = (member.promised / PARTS) * ceiling;
  const used = member.used ?? (isThis ? fleet.usage : undefined);
  // Of the roster as it was answered: how an older one has gone on is not known.
  const isLate = member.syncAgeMs > 2 * (timing.syncIntervalMs + timing.timeoutMs);
  const isEnded = isThis ? leaseLeftMs === 0 : member.leaseLeftMs === 0;
  const state = stateOf(member, { isOver: isLate && isEnded, isThis, fleet });
  return {
    id: shortId(member.id),
    isThis,
    incarnation: member.nonce.slice(0, 8),
    share: exact(state === "safe-share" ? safeShare : (member.told / PARTS) * ceiling),
    promised: rounded(promised),
    ...(!member.hasLeft && {
      wanted: exact((member.wanted / PARTS) * ceiling),
      fair: exact((member.fair / PARTS) * ceiling),
      upForMs: member.joinedAgoMs + ageMs,
    }),
    ...(used !== undefined && !member.hasLeft && { used: Math.round(used * 100) / 100 }),
    ...(member.where !== undefined && { where: member.where }),
    ...(leaseLeftMs > 0 && { leaseLeftMs }),
    syncAgeMs,
    state,
  };
}

function stateOf(
  member: RosterMember,
  {
    isOver,
    isThis,
    fleet,
  }: {
    /** Its lease has ended and it has not synced since. */
    readonly isOver: boolean;
    readonly isThis: boolean;
    readonly fleet: FleetState | undefined;
  },
): LiveMember["state"] {
  if (member.hasLeft) return "left";
  if (isThis && fleet?.membership?.standing === "lost") return "safe-share";
  if (!member.hasArrived) return "joining";
  if (isOver) return "lease-ended";
  return member.told < member.promised ? "releasing" : "holds";
}

/** This member without a roster: without a store, or before its first answer. */
function aloneOf(
  fleet: FleetState | undefined,
  { share = 0 }: LiveShare,
  { safeShare }: PoolSettings,
): LiveMember {
  const { membership } = fleet ?? {};
  const isLost = membership?.standing === "lost";
  const leaseLeftMs = Math.round(membership?.leaseLeftMs ?? 0);
  return {
    id: fleet?.member === undefined ? "this process" : shortId(fleet.member),
    isThis: true,
    incarnation: "",
    share: isLost ? safeShare : share,
    ...(fleet?.usage !== undefined && { used: Math.round(fleet.usage * 100) / 100 }),
    ...(leaseLeftMs > 0 && { leaseLeftMs }),
    syncAgeMs: Math.round(membership?.syncAgeMs ?? 0),
    state: isLost ? "safe-share" : membership?.standing === "joining" ? "joining" : "holds",
  };
}

/**
 * A share with four decimals. Shares are added up: four of 105.5/s, each rounded to 106/s, would look like more than the
 * ceiling of 422/s.
 */
function exact(perSecond: number): number {
  return Math.round(perSecond * 10_000) / 10_000;
}

/** The part of a member's id that tells it from others. A random id is longer than people read. */
function shortId(id: string): string {
  return /^m-[0-9a-z]{12}$/i.test(id) ? id.slice(2, 6) : id;
}

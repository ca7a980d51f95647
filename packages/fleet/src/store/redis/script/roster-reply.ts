import { PARTS } from "../../../ledger/parts.ts";
import { ROSTER_MAX, wantedAndFair } from "../../../ledger/roster.ts";
import type { PoolDemand, PoolRoster, RosterMember } from "../../../ledger/roster.ts";
import { readAbout } from "../../about.ts";
import { flag, nonsense, whole } from "./reply.ts";

/** Reads what the roster script has answered. Any other form is refused. */
export function readRoster(reply: unknown): PoolRoster | undefined {
  if (typeof reply !== "string") throw nonsense("its shape");
  if (reply === "") return undefined;
  const [head = "", ...lines] = reply.split("\n");
  const [sync = "", lease = "", stale = "", timeout = "", learning = "", leftOut = "", ...sums] =
    head.split(" ");
  const [members = "", lent = "", extra = "", ...more] = sums;
  if (more.length > 0 || lines.length > ROSTER_MAX) throw nonsense("its lines");
  const pool: PoolDemand = {
    members: whole("the members", members, 0),
    lent: whole("what all lend", lent, 0),
    extra: whole("what all want beyond their share", extra, 0),
  };
  return {
    members: lines.map((line) => memberOf(line, pool)),
    leftOut: whole("the members left out", leftOut, 0),
    learningMs: whole("the learning time", learning, 0),
    timing: {
      syncIntervalMs: whole("the time between syncs", sync, 1),
      leaseMs: whole("the lease", lease, 1),
      staleMs: whole("the stale age", stale, 1),
      timeoutMs: whole("the time-out", timeout, 1),
    },
  };
}

function memberOf(line: string, pool: PoolDemand): RosterMember {
  const words = line.split(" ");
  const [id = "", nonce = "", promised = "", told = "", age = "", left = "", ...flags] = words;
  const [arrived = "", gone = "", joined = "", lent = "", extra = "", about = ""] = flags;
  if (words.length !== 12) throw nonsense("a member");
  const hasLeft = flag("whether a member has left", gone);
  const demand = {
    lent: whole("what a member lends", lent, 0, PARTS),
    extra: whole("what a member wants beyond its share", extra, 0, PARTS),
  };
  return {
    id,
    nonce,
    promised: whole("what is promised", promised, 0, PARTS),
    told: whole("the share", told, 0, PARTS),
    ...(hasLeft ? { wanted: 0, fair: 0 } : wantedAndFair(demand, pool)),
    syncAgeMs: whole("the age of a sync", age, 0),
    joinedAgoMs: whole("the age of a member", joined, 0),
    leaseLeftMs: whole("the lease left", left, 0),
    hasArrived: flag("whether a member has arrived", arrived),
    hasLeft,
    ...readAbout(about),
  };
}

import { PARTS } from "../../../ledger/parts.ts";
import { ROSTER_MAX } from "../../../ledger/roster.ts";
import type { PoolRoster, RosterMember } from "../../../ledger/roster.ts";
import { flag, nonsense, whole } from "./reply.ts";

/** Reads what the roster script has answered. Any other form is refused. */
export function readRoster(reply: unknown): PoolRoster | undefined {
  if (typeof reply !== "string") throw nonsense("its shape");
  if (reply === "") return undefined;
  const [head = "", ...lines] = reply.split("\n");
  const [sync = "", lease = "", stale = "", timeout = "", learning = "", leftOut = "", ...more] =
    head.split(" ");
  if (more.length > 0 || lines.length > ROSTER_MAX) throw nonsense("its lines");
  return {
    members: lines.map(memberOf),
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

function memberOf(line: string): RosterMember {
  const words = line.split(" ");
  const [id = "", nonce = "", promised = "", told = "", age = "", left = "", ...flags] = words;
  const [arrived = "", gone = ""] = flags;
  if (words.length !== 8) throw nonsense("a member");
  return {
    id,
    nonce,
    promised: whole("what is promised", promised, 0, PARTS),
    told: whole("the share", told, 0, PARTS),
    syncAgeMs: whole("the age of a sync", age, 0),
    leaseLeftMs: whole("the lease left", left, 0),
    hasArrived: flag("whether a member has arrived", arrived),
    hasLeft: flag("whether a member has left", gone),
  };
}

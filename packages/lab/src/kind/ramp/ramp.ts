import * as v from "valibot";
import { counted } from "../../report/words.ts";
import { real, field, list, map, oneOf, whole } from "../../file/fields.ts";
import { defineKind } from "../../scenario/kind.ts";
import type { Kind, Run } from "../../scenario/kind.ts";
import type { Problem } from "../../file/problem.ts";
import { isLook, LockstepPool } from "../../ramp/lockstep-pool.ts";
import type { LockstepCall } from "../../ramp/lockstep-pool.ts";
import { perSecondList } from "../per-second.ts";
import { rampOfOffered, subtitleOf } from "./ramp-offered.ts";
import { rateLimit } from "../rate-limit.ts";

const MAX_MEMBERS = 1000;

/** Members × calls. More grants would need gigabytes. */
const MAX_GRANTS = 5_000_000;

const call = v.pipe(
  map({
    t: real(0),
    members: v.optional(whole(1, MAX_MEMBERS)),
    use: v.optional(whole(0)),
    ask: v.optional(
      field<number | "all">(
        (value) => value === "all" || (Number.isInteger(value) && Number(value) >= 0),
        "a whole number of tokens or all",
      ),
    ),
    deposit: v.optional(whole(0)),
  }),
  v.check(
    ({ use, ask }) => use === undefined || ask === undefined,
    "has both use and ask; expected one of them",
  ),
  v.check(
    ({ ask, deposit }) => deposit === undefined || ask !== undefined,
    "has deposit without ask; expected { ask: 5, deposit: 2 }",
  ),
) as v.GenericSchema<unknown, LockstepCall>;

export const rampKind: Kind = defineKind(
  {
    rateLimit: rateLimit(),
    members: v.optional(whole(1, MAX_MEMBERS), 1),
    division: v.optional(oneOf("rotate", "floor"), "rotate"),
    resumeFrom: v.optional(real(0, 2 ** 53)),
    constructedAt: v.optional(real(0), 0),
    offered: v.optional(perSecondList(whole(0, 1e9))),
    calls: v.optional(
      v.pipe(
        list(call, 1_000_000),
        v.rawCheck(({ dataset, addIssue }) => {
          if (!dataset.typed) return;
          const calls = dataset.value;
          const late = calls.findIndex(({ t }, i) => t < (calls[i - 1]?.t ?? 0));
          if (late === -1) return;
          addIssue({
            message: `is at ${calls[late]?.t} s, before the call above it; expected times in order`,
            path: [{ type: "array", origin: "value", input: calls, key: late, value: calls[late] }],
          });
        }),
      ),
    ),
  },
  (scenario): Run => {
    const { calls = [], offered } = scenario;
    if (offered !== undefined) return rampOfOffered(scenario, offered);
    const pool = new LockstepPool(scenario);
    const rows = calls.map((each) => pool.call(each));
    const looks = calls.map(isLook);
    return {
      rows,
      columns: [
        { name: "time", cell: (row) => String(rows[row]?.t) },
        { name: "ceiling", cell: (row) => String(rows[row]?.ceiling) },
        {
          name: "granted",
          cell: (row) => (looks[row] ? "" : (rows[row]?.granted.join(" ") ?? "")),
        },
        { name: "used", cell: (row) => (looks[row] ? "" : String(rows[row]?.used)) },
      ],
      chart: () => ({
        title: scenario.title || "Ramp",
        subtitle: subtitleOf(scenario),
        x: { label: "time", unit: "s" },
        y: { label: "tokens", unit: "per second" },
        series: [
          {
            label: "used",
            shape: "bar",
            points: rows.map(({ t, used }, row) => ({ x: t, y: looks[row] ? undefined : used })),
          },
          {
            label: "ceiling",
            shape: "step",
            points: rows.map(({ t, ceiling }) => ({ x: t, y: ceiling })),
          },
        ],
        markers: calls.flatMap(({ t, members }) =>
          members === undefined ? [] : [{ x: t, label: counted(members, "member") }],
        ),
      }),
    };
  },
  ({ members, calls, offered }) => {
    if (offered !== undefined && calls !== undefined)
      return [problem("offered", "stands beside calls; expected one of them")];
    if (offered !== undefined) return problemsOfGrants("offered", offered.length * members);
    if (calls === undefined)
      return [{ path: ["calls"], message: "is missing; expected a list", isMissing: true }];
    let size = members;
    let grants = 0;
    for (const each of calls) grants += size = each.members ?? size;
    return problemsOfGrants("calls", grants);
  },
);

function problemsOfGrants(key: string, grants: number): Problem[] {
  if (grants <= MAX_GRANTS) return [];
  return [problem(key, `come to ${grants} grants; expected at most ${MAX_GRANTS}`)];
}

function problem(key: string, message: string): Problem {
  return { path: [key], message, isMissing: false };
}

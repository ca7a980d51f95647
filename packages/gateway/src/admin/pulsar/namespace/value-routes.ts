import type { PolicyPlace } from "../../../policy/policy-book.ts";
import { DONE, json, UNSET } from "../../http/answer.ts";
import type { Answer } from "../../http/answer.ts";
import type { AdminRequest } from "../../http/request.ts";
import type { Route } from "../../http/router.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import type { PolicyLevel } from "./policy-level.ts";

/** A policy with one value. */
export interface ValuePolicy {
  /** By which it is stored. */
  readonly name: string;
  /** In its path, if that is another. */
  readonly pathName?: string;
  /** Reads the value from a request; undefined leaves what is set. */
  readonly valueOf: (request: AdminRequest) => unknown;
  readonly byDefault?: unknown;
  /** What holds for a place that has no value of its own, if that is more than its namespace's value. */
  readonly appliedAt?: (place: PolicyPlace) => unknown;
  /** The answer if it is not set. */
  readonly unset?: Answer;
}

export function valueRoutes(
  { policies }: BrokerAdmin,
  level: PolicyLevel,
  { name, pathName = name, valueOf, byDefault, appliedAt, unset = UNSET }: ValuePolicy,
): readonly Route[] {
  const { placeOf } = level;
  const inherited = ({ namespace }: PolicyPlace): unknown =>
    policies.policiesAt({ namespace }).policies[name];
  const applied = appliedAt ?? inherited;
  const path = `${level.path}/${pathName}`;
  const set = async (request: AdminRequest): Promise<Answer> => {
    const place = placeOf(request);
    const value = valueOf(request);
    if (value !== undefined) await policies.setPolicy(place, name, value);
    return DONE;
  };
  return [
    {
      method: "GET",
      path,
      handle: (request) => {
        const place = placeOf(request);
        const own = policies.policiesAt(place).policies[name];
        const value = request.flag("applied") ? (own ?? applied(place) ?? byDefault) : own;
        return value === undefined ? unset : json(value);
      },
    },
    { method: "POST", path, handle: set },
    { method: "PUT", path, handle: set },
    {
      method: "DELETE",
      path,
      handle: async (request) => {
        await policies.setPolicy(placeOf(request), name, undefined);
        return DONE;
      },
    },
  ];
}

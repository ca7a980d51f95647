/** The fields `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers (2025-09). */
import { InvariantError } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import { PAUSE_MAX_MS } from "./time/decimal.ts";
import { formatStringList, parseStringList } from "./structured-field.ts";
import type { ListItem, Parameter, SentParameter } from "./structured-field.ts";

/** What is left to a client under one policy. A hint: what is left may yet be refused. */
export interface Quota {
  readonly policy: string;
  /** In the unit of the policy. */
  readonly remaining: number;
  /** Time during which no more than `remaining` may be used, in ms; after it some is back, not all of it. */
  readonly resetMs?: number;
  /** Whose quota, if it is divided. Opaque, in base64: equal keys are equal texts. */
  readonly partitionKey?: string;
}

/** What a policy counts. */
export type QuotaUnit = "requests" | "content-bytes" | "concurrent-requests";

/** What a client is given under one policy. */
export interface QuotaPolicy {
  readonly policy: string;
  readonly quota: number;
  readonly windowMs?: number;
  readonly unit: QuotaUnit;
  readonly partitionKey?: string;
}

/** A policy as it was read: its unit may be one that is not known here. */
export interface ReadQuotaPolicy extends Omit<QuotaPolicy, "unit"> {
  readonly unit: QuotaUnit | "other";
}

const UNITS: readonly QuotaUnit[] = ["requests", "content-bytes", "concurrent-requests"];

/** The quotas of a `RateLimit` field; none if anything about it is malformed. */
export function parseRateLimit(value: string): readonly Quota[] {
  return parseItems(value, toQuota);
}

/** The policies of a `RateLimit-Policy` field; none if anything about it is malformed. */
export function parseRateLimitPolicy(value: string): readonly ReadQuotaPolicy[] {
  return parseItems(value, toPolicy);
}

/** The field has whole seconds: times are rounded up. */
export function formatRateLimit(quotas: readonly Quota[]): string {
  return formatStringList(
    quotas.map(({ policy, remaining, resetMs, partitionKey }) => ({
      value: policy,
      parameters: new Map([
        ...whole("r", remaining),
        ...inSeconds("t", resetMs),
        ...bytes("pk", partitionKey),
      ]),
    })),
  );
}

/** The field has whole seconds, at least one: windows are rounded up. */
export function formatRateLimitPolicy(policies: readonly QuotaPolicy[]): string {
  return formatStringList(
    policies.map(({ policy, quota, windowMs, unit, partitionKey }) => ({
      value: policy,
      parameters: new Map([
        ...whole("q", quota),
        ...string("qu", unit === "requests" ? undefined : unit),
        ...inSeconds("w", windowMs === undefined ? undefined : Math.max(1, windowMs)),
        ...bytes("pk", partitionKey),
      ]),
    })),
  );
}

function parseItems<T>(value: string, convert: (item: ListItem) => T | undefined): readonly T[] {
  const converted: T[] = [];
  for (const item of parseStringList(value) ?? []) {
    const one = convert(item);
    if (one === undefined) return [];
    converted.push(one);
  }
  return converted;
}

function toQuota({ value, parameters }: ListItem): Quota | undefined {
  const [r, t, pk] = ["r", "t", "pk"].map((key) => parameters.get(key));
  if (!isWhole(r, 0)) return undefined;
  if (t !== undefined && !isWhole(t, 0)) return undefined;
  if (pk !== undefined && pk.kind !== "bytes") return undefined;
  return {
    policy: value,
    remaining: r.value,
    ...(t === undefined ? {} : { resetMs: toMs(t.value) }),
    ...(pk === undefined ? {} : { partitionKey: pk.base64 }),
  };
}

function toPolicy({ value, parameters }: ListItem): ReadQuotaPolicy | undefined {
  const [q, qu, w, pk] = ["q", "qu", "w", "pk"].map((key) => parameters.get(key));
  if (!isWhole(q, 0)) return undefined;
  if (qu !== undefined && qu.kind !== "string") return undefined;
  if (w !== undefined && !isWhole(w, 1)) return undefined;
  if (pk !== undefined && pk.kind !== "bytes") return undefined;
  // Units may be added to the registry.
  const unit = UNITS.find((known) => known === (qu?.value ?? "requests")) ?? "other";
  return {
    policy: value,
    quota: q.value,
    unit,
    ...(w === undefined ? {} : { windowMs: toMs(w.value) }),
    ...(pk === undefined ? {} : { partitionKey: pk.base64 }),
  };
}

function isWhole(
  parameter: Parameter | undefined,
  min: number,
): parameter is Extract<Parameter, { kind: "integer" }> {
  return parameter?.kind === "integer" && parameter.value >= min;
}

function toMs(seconds: number): number {
  return Math.min(seconds * SECOND_MS, PAUSE_MAX_MS);
}

type NamedParameters = readonly (readonly [string, SentParameter])[];

/** The fields know no negative numbers. */
function whole(key: string, value: number): NamedParameters {
  if (value < 0) throw new InvariantError(`${key} is ${value}; it must be at least 0`);
  return [[key, { kind: "integer", value }]];
}

function inSeconds(key: string, ms: number | undefined): NamedParameters {
  return ms === undefined ? [] : whole(key, Math.ceil(ms / SECOND_MS));
}

function string(key: string, value: string | undefined): NamedParameters {
  return value === undefined ? [] : [[key, { kind: "string", value }]];
}

function bytes(key: string, base64: string | undefined): NamedParameters {
  return base64 === undefined ? [] : [[key, { kind: "bytes", base64 }]];
}

import type { QuotaBalance, QuotaReply } from "@sluice/core";
import { StoreError } from "../store/store-error.ts";

/** A number of at most 16 digits, without a sign, a point or leading zeros. */
const WHOLE = /^(?:0|[1-9]\d{0,15})$/;
const HEAD = 3;

/** Reads the answer of `quota.lua`: `HEAD` fields, then two for each policy. Any other form is refused. */
export function readQuotaReply(reply: unknown, policies: number): QuotaReply {
  const words = typeof reply === "string" ? reply.split(" ") : [];
  if (words.length !== HEAD + 2 * policies) throw nonsense("its fields");
  const [granted = "", leased = "", term = ""] = words;
  return {
    granted: whole("the tokens granted", granted),
    leased: whole("the tokens leased", leased),
    term: whole("the term", term),
    balances: Array.from({ length: policies }, (_, i) =>
      balanceOf(words[HEAD + 2 * i] ?? "", words[HEAD + 2 * i + 1] ?? ""),
    ),
  };
}

function balanceOf(remaining: string, reset: string): QuotaBalance {
  return {
    remaining: whole("what remains", remaining),
    resetMs: reset === "-" ? undefined : whole("the reset", reset),
  };
}

function whole(what: string, digits: string): number {
  if (!WHOLE.test(digits)) throw nonsense(what);
  return Number(digits);
}

function nonsense(what: string): StoreError {
  return new StoreError(`Redis answered what makes no sense: ${what}`);
}

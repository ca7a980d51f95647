import { InvariantError, requireCount } from "../errors.ts";
import type { QuotaRequest } from "./quota-store.ts";

const KEY_LENGTH_MAX = 512;
const POLICIES_MAX = 16;
/** So that balances, which are doubles, count single tokens exactly. */
const TOKENS_MAX = 1_000_000_000_000;

/** Refuses a request that no store may see. */
export function checkQuotaRequest(request: QuotaRequest): void {
  const { key, policies, needed, least, wanted, share, settled } = request;
  if (key.length === 0 || key.length > KEY_LENGTH_MAX)
    throw new InvariantError(
      `key has ${key.length} characters; use 1 to ${KEY_LENGTH_MAX}, such as the two ends of a longer one`,
    );
  requireCount("the number of policies", policies.length, 1, POLICIES_MAX);
  requireCount("needed", needed, 0, TOKENS_MAX);
  requireCount("least", least, 0, needed);
  requireCount("wanted", wanted, 0, TOKENS_MAX);
  if (!(share >= 0 && share <= 1))
    throw new InvariantError(`share is ${share}; use a number from 0 to 1`);
  if (settled === undefined) return;
  requireCount("settled.leased", settled.leased, 0, TOKENS_MAX);
  requireCount("settled.unused", settled.unused, 0, settled.leased);
  requireCount("settled.term", settled.term);
}

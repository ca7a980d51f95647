import { ConfigError } from "@sluice/core";

const PART = "[A-Za-z0-9._-]{1,64}";
const MEMBER_ID = new RegExp(`^${PART}$`);
const POOL_NAME = new RegExp(`^${PART}(?:/${PART})*$`);
/** A pool's name is part of every key. */
const POOL_NAME_MAX = 256;
/** Enough of a wrong name to find it by. */
const SHOWN_MAX = 80;

/** Refuses a pool's name unless it is parts of letters, digits, `.`, `_` and `-`, with `/` between. */
export function requirePoolName(pool: string): void {
  if (pool.length <= POOL_NAME_MAX && POOL_NAME.test(pool)) return;
  throw new ConfigError(
    `the pool is called ${shown(pool)}; it must be parts of 1 to 64 letters, digits, ".", "_" or "-", with "/" between them, such as "shop/orders/out"`,
  );
}

/** Refuses a member's id unless it is 1 to 64 letters, digits, `.`, `_` and `-`. */
export function requireMemberId(id: string): void {
  if (MEMBER_ID.test(id)) return;
  throw new ConfigError(
    `the member is called ${shown(id)}; it must be 1 to 64 letters, digits, ".", "_" or "-"`,
  );
}

/** Refuses a nonce that could not be told from what stands beside it. */
export function requireNonce(nonce: string): void {
  if (MEMBER_ID.test(nonce)) return;
  throw new ConfigError(
    `the nonce is ${shown(nonce)}; it must be 1 to 64 letters, digits, ".", "_" or "-"`,
  );
}

function shown(name: string): string {
  return JSON.stringify(name.length > SHOWN_MAX ? `${name.slice(0, SHOWN_MAX)}…` : name);
}

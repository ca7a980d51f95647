import { ConfigError } from "@sluice/core";

/** What a member says of itself to people who look at the pool. No rule of the ledger reads it. */
export interface About {
  /** Used ÷ usable tokens, 0 to 1, of its last second; undefined: not known. Kept with three decimals. */
  readonly used?: number | undefined;
  /** Where the process runs, such as "shop-1:4121": its host and its process id. */
  readonly where?: string | undefined;
}

const WHERE = /^[A-Za-z0-9._:-]{1,80}$/;

/** Refuses a place that could not be told from what stands beside it. */
export function checkAbout({ used, where }: About): void {
  if (used !== undefined && !(used >= 0 && used <= 1))
    throw new ConfigError(`used is ${used}; it is a part of the share, from 0 to 1`);
  if (where === undefined || WHERE.test(where)) return;
  throw new ConfigError(
    `where is ${JSON.stringify(where.slice(0, 80))}; it must be 1 to 80 letters, digits, ".", "_", ":" or "-", such as "shop-1:4121"`,
  );
}

/** As a store keeps it: `thousandths/where`; "" for nothing. */
export function aboutText({ used, where = "" }: About): string {
  if (used === undefined) return where === "" ? "" : `/${where}`;
  return `${Math.round(used * 1_000)}/${where}`;
}

/** Reads what `aboutText` has written; any other text says nothing. */
export function readAbout(text: string): About {
  const [, thousandths = "", where = ""] = /^(\d{0,4})\/(.*)$/.exec(text) ?? [];
  return {
    ...(thousandths !== "" && { used: Math.min(1, Number(thousandths) / 1_000) }),
    ...(WHERE.test(where) && { where }),
  };
}

/** A row of Waiting now as a reader sees it, and the answer of `/api/why` to compare it with. */
import type { Reason } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";
import type { Page } from "playwright-core";
import type { WholeWhy } from "../../src/why/why-lines.ts";

export interface ShownRow {
  readonly chip: string;
  /** The sentence without the chip. */
  readonly says: string;
  readonly forMs?: number | undefined;
  readonly until?: string | undefined;
  readonly because?: string | undefined;
  readonly control: string;
}

interface RowParts {
  readonly chip: string;
  readonly says: string;
  readonly facts: readonly string[];
  readonly control: readonly string[];
}

/** Runs in the page. */
const READ = `(selector) => {
  const row = document.querySelector(selector);
  const texts = (selector) => [...row.querySelectorAll(selector)].map((one) => one.value ?? one.innerText);
  return {
    chip: texts(".say > :first-child")[0] ?? "",
    says: texts(".say")[0] ?? "",
    facts: texts(".facts > span"),
    control: texts(".ctl .label, .ctl input, .ctl .u, .ctl .value, .ctl .hint"),
  };
}`;

/** Tries of 50 ms: only a stage that fails takes this long. */
const TRIES_MAX = 600;

export async function readRow(page: Page, reason: Reason): Promise<ShownRow> {
  const selector = `[data-row][data-reason="${reason}"]`;
  await page.locator(selector).first().waitFor();
  // In one step of the page, so that all parts are of one sample.
  const parts = await page.evaluate<RowParts>(`(${READ})(${JSON.stringify(selector)})`);
  const facts = parts.facts.map(plain);
  const chip = plain(parts.chip);
  return {
    chip,
    says: plain(parts.says).slice(chip.length).trim(),
    forMs: spanMs(facts.find((fact) => fact.startsWith("for "))?.slice(4)),
    until: facts.find((fact) => !/^(?:for|because of) /.test(fact)),
    because: facts.find((fact) => fact.startsWith("because of "))?.slice(11),
    control: plain(parts.control.join(" ")),
  };
}

/** The answer of `/api/why` once something waits for `reason`. */
export async function whyOf(admin: string, reason: string): Promise<WholeWhy> {
  let seen = "";
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const why = (await (await fetch(`${admin}/api/why`)).json()) as WholeWhy;
    seen = JSON.stringify(why);
    const all = [...why.waiting, ...why.paused, ...(why.pipelines?.vertices ?? [])];
    if (all.some((one) => one.reason === reason)) return why;
    await systemTimer.sleep(50);
  }
  throw new Error(`nothing waits for ${reason}; /api/why says: ${seen}`);
}

function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000 };

/** "1 min 12 s" in ms. */
function spanMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return [...text.matchAll(/([\d.]+) (ms|s|min|h)\b/g)].reduce(
    (sum, [, count, unit = "ms"]) => sum + Number(count) * (UNIT_MS[unit] ?? Number.NaN),
    0,
  );
}

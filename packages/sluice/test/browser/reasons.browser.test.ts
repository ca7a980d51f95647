/** The row of Waiting now on the stage of each reason: its words, its numbers as `/api/why` has them, its setting. */
import { describe, expect, test } from "vitest";
import { NEEDS_REDIS, redisPath } from "../../../fleet/test/redis-server.ts";
import type { WhyVertex } from "../../src/pipelines/admin/vertex-why.ts";
import type { WholeWhy } from "../../src/why/why-lines.ts";
import { flood, REASON_STAGES } from "../stages/reason-stages.ts";
import type { ReasonStage, StagedReason } from "../stages/reason-stages.ts";
import { runFlow } from "../run-flow.ts";
import { chromiumPath, keepScreenshot, NEEDS_CHROMIUM, useBrowser } from "./browser.ts";
import { readRow, whyOf } from "./waiting-row.ts";
import type { ShownRow } from "./waiting-row.ts";

interface Expected {
  /** The whole sentence. Numbers that move while the test reads are any number here. */
  readonly says: RegExp;
  /** When it ends; absent if that is not known. */
  readonly until?: RegExp;
  /** The label of the control, the value that is set, or who decides. */
  readonly control: RegExp;
}

const N = String.raw`[\d,]+(?:\.\d+)?k?`;
const SPAN = String.raw`[\d.]+ m?s`;
const LIMITED = String.raw`(?: and is asked for (?:at least )?${N}/s)?\.`;

/** What the page must say, with the numbers of `/api/why`. */
const EXPECTED: Readonly<Record<StagedReason, (why: WholeWhy) => Expected>> = {
  "topic-rate": ({ waiting: [why] }) => ({
    says: like(
      `${why?.producers[0]?.name} waits to publish to orders. The topic takes ${why?.limit.messages}/s`,
      `(?:; 1 producer asks for (?:at least )?${N}/s)?\\.`,
    ),
    until: new RegExp(
      `^(?:until bulk-0 sends less than ${N}/s|about ${SPAN} at the present rate)$`,
    ),
    control: like(`orders.messages ${why?.limit.messages} /s`, ""),
  }),
  "group-rate": ({ waiting: [why] }) => ({
    says: like(
      `bulk-0 waits to publish to a. Group bulk takes ${why?.limit.messages}/s for its 1 topics together`,
      LIMITED,
    ),
    until: like(`until the group is asked for less than ${why?.limit.messages}/s`, ""),
    control: like(`bulk.messages ${why?.limit.messages} /s`, ""),
  }),
  "broker-rate": ({ waiting: [why] }) => ({
    says: like(
      `1 producer waits to publish. This gateway takes ${why?.limit.messages}/s in all`,
      LIMITED,
    ),
    until: like(`until less than ${why?.limit.messages}/s is asked`, ""),
    control: like(`broker.messages ${why?.limit.messages} /s`, ""),
  }),
  "connection-pending": ({ paused: [why] }) => ({
    says: like(
      `Connection ${why?.address} waits. `,
      `\\d+ of its publishes are not stored yet and ${why?.pending?.max} are allowed; it goes on at ${why?.pending?.resume}\\.`,
    ),
    control: like(`connection.pendingMessages ${why?.pending?.max}`, " line \\d+|.*:\\d+"),
  }),
  memory: ({ paused }) => ({
    says: like(
      paused.length === 1 ? "1 connection waits. " : `${paused.length} connections wait. `,
      `Held frames fill [\\d.]+ MB of ${megabytes(paused[0]?.memory?.max)}; reading goes on at ${megabytes(paused[0]?.memory?.resume)}\\.`,
    ),
    control: like(
      `limits.memory held frames get ${megabytes(paused[0]?.memory?.max)} of it`,
      ".*:\\d+",
    ),
  }),
  "fleet-share": (why) => ({
    says: /^in waits to read\. Its limit is 1\d(?:\.\d)?\/s, still ramping\./,
    until: like(`limit grows to ${vertex(why)?.share?.max}/s in `, "(?:\\d+ s|1 min 00 s)"),
    control: like(`rateLimit.max ${vertex(why)?.share?.max} /s`, ""),
  }),
  rate: (why) => ({
    says: like(
      "",
      `(?:\\d+ calls? waits?|Calls wait) to be sent to ${escaped(service(why))}\\. The gate sends at most 5/s.*\\.`,
    ),
    until: new RegExp(`^next token in ${SPAN}$`),
    control: /^request\.rate 5\/s .*:\d+$/,
  }),
  concurrency: (why) => ({
    says: like(
      "",
      `(?:\\d+ requests? waits?|Requests wait) to be sent to ${escaped(service(why))}\\. 1 of ${vertex(why)?.gate?.limit} are in flight and each takes ${SPAN}.*\\.`,
    ),
    until: new RegExp(`^next answer in about ${SPAN}$`),
    control: /^request\.concurrency fixed at 1 .*:\d+$/,
  }),
  "peer-busy": (why) => ({
    says: like(
      "",
      `(?:\\d+ requests? waits?|Requests wait) to be sent to ${escaped(service(why))}\\. It answered busy ${SPAN} ago, so the rate was cut(?: from ${N}/s)? to ${N}/s.*\\.`,
    ),
    until: new RegExp(
      `^(?:next request in about ${SPAN}|back at ${N}/s in about .* if it stays quiet)$`,
    ),
    control: /^request\.busy rule sluice .*:\d+$/,
  }),
  "retry-after": (why) => ({
    says: like(
      `All requests to ${service(why)} wait. It answered ${vertex(why)?.gate?.pause?.status} and asked for `,
      "3\\d s; nothing is sent before \\d\\d:\\d\\d:\\d\\d\\..*",
    ),
    until: /^ends in [23]\d s$/,
    control: /^no setting shortens this The service decides\.$/,
  }),
  "store-lost": (why) => ({
    says: like(
      `${vertex(why)?.vertex} runs on its safe share of ${vertex(why)?.share?.share}/s. `,
      `The store has not answered for ${SPAN} and this member's lease has ended\\..*`,
    ),
    until: /^until the store answers, then at most 6\.0 s$/,
    control: /^fleet\.maxMembers 4 .*:\d+$/,
  }),
};

/** What a row says of how long it waits may be older than the answer by this much, ms: two samples, and a slow machine. */
const STALE_MS = 4_000;

describe.skipIf(chromiumPath === undefined)(`a row of Waiting now${NEEDS_CHROMIUM}`, () => {
  const { open } = useBrowser();

  for (const reason of Object.keys(REASON_STAGES) as StagedReason[])
    test.skipIf(reason === "store-lost" && redisPath === undefined)(
      `${reason} says what waits, why in true numbers, until when, and what would change it${reason === "store-lost" ? NEEDS_REDIS : ""}`,
      async () => {
        const stage: ReasonStage = await REASON_STAGES[reason]();
        const { ready } = await runFlow(`admin: { listen: 127.0.0.1:0 }\n${stage.flow}`);
        if (stage.flood !== undefined) flood(ready.gateway ?? "", stage.flood);
        const { page, errors } = await open(`${ready.admin}/`);
        if (stage.next !== undefined) {
          await whyOf(ready.admin, stage.next.after);
          stage.next.act();
        }
        await whyOf(ready.admin, reason);
        const check = async (): Promise<ShownRow> => {
          const row = await readRow(page, reason);
          const why = await whyOf(ready.admin, reason);
          const { says, until, control } = EXPECTED[reason](why);
          expect(row.chip).toBe(reason);
          expect(row.says).toMatch(says);
          if (until === undefined) expect(row.until).toBeUndefined();
          else expect(row.until).toMatch(until);
          expect(row.control).toMatch(control);
          const forMs = waitsForMs(why, reason);
          expect(
            Math.abs((row.forMs ?? Infinity) - forMs),
            `for ${row.forMs}, ${forMs}`,
          ).toBeLessThan(STALE_MS);
          return row;
        };
        // The first samples may not know all parts yet.
        await expect
          .poll(async () => (await check()).chip, { timeout: 12_000, interval: 250 })
          .toBe(reason);
        await keepScreenshot(page, `reason-${reason}`, false);
        expect(errors).toEqual([]);
      },
    );
});

function like(text: string, rest: string): RegExp {
  return new RegExp(`^${escaped(text)}${rest}$`);
}

function vertex({ pipelines }: WholeWhy): WhyVertex | undefined {
  return pipelines?.vertices[0];
}

function service(why: WholeWhy): string {
  return vertex(why)?.gate?.service ?? "";
}

function waitsForMs({ waiting, paused, pipelines }: WholeWhy, reason: StagedReason): number {
  const all = [...waiting, ...paused, ...(pipelines?.vertices ?? [])];
  return Math.max(...all.filter((one) => one.reason === reason).map(({ forMs }) => forMs));
}

/** As the page writes bytes between 1 MB and 100 MB. */
function megabytes(bytes = 0): string {
  const count = bytes / 1_000_000;
  return `${Number.isInteger(count) ? count : count.toFixed(1)} MB`;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

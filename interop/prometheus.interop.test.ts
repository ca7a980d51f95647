/** The Grafana dashboard and the alerts of `deploy/` with a real Prometheus that scrapes a running quickstart. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { systemTimer } from "@sluice/core/system";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { NEEDS_REDIS, RedisServer } from "../packages/fleet/test/redis-server.ts";
import { dashboardQueries, dashboardVariables } from "../test/grafana-dashboard.ts";
import { serverProgram, untilFound } from "./programs/found.ts";
import { Prometheus } from "./servers/prometheus-server.ts";
import { startQuickstart } from "./servers/quickstart.ts";

await untilFound(["prometheus"]);
const program = serverProgram("prometheus");
const SKIPPED = "missing" in program ? ` (skipped: ${program.missing})` : "";
const deployed = fileURLToPath(new URL("../deploy/prometheus/", import.meta.url));

/**
 * Queries that have no data while nothing is wrong and no store is used, by what stages them: a Redis store that
 * is stopped, and connections that may hold little.
 */
const STAGED = [
  "Store",
  "Replicas in the pool",
  "Age of the store's answer",
  "Failed syncs",
  "Connections not read, by reason",
  "Wait because of another topic",
];

/** Only a failing test waits this long. The service of the quickstart is weak once in 100 s. */
const PATIENCE_MS = 150_000;

describe.skipIf(SKIPPED !== "")(`Prometheus${SKIPPED}`, () => {
  test("finds data for every query of the dashboard under the quickstart, and every alert valid", async () => {
    await using quickstart = await startQuickstart();
    await using prometheus = await Prometheus.start([hostOf(quickstart.admin)]);
    const missing = await untilNone(async () => {
      const found = await Promise.all(
        dashboardQueries()
          .filter(({ panel }) => !STAGED.includes(panel))
          .map(async ({ panel, expr }) =>
            (await prometheus.series(expr)).length > 0 ? undefined : `${panel}: ${expr}`,
          ),
      );
      return found.filter((each) => each !== undefined);
    });
    expect(missing).toEqual([]);
    for (const { name, label, metric } of dashboardVariables())
      expect(await prometheus.labelValues(label, metric), name).not.toEqual([]);
    const alerts = await prometheus.alerts();
    expect(alerts.length).toBeGreaterThan(15);
    expect(alerts.filter(({ health }) => health !== "ok")).toEqual([]);
  });

  test.skipIf(NEEDS_REDIS !== "")(
    `finds data for the others in a fault, and the alert of a lost store fires${NEEDS_REDIS}`,
    async () => {
      const redis = await RedisServer.start();
      await using quickstart = await startQuickstart((flow) =>
        flow
          .replace("heldBytes: 4MB", "heldBytes: 64kB")
          .replace(
            "name: quickstart",
            `name: quickstart\nstore: { redis: { url: "${redis.url}" } }`,
          ),
      );
      await using prometheus = await Prometheus.start([hostOf(quickstart.admin)]);
      const age = "sluice_rate_limit_store_age_seconds";
      await untilNone(async () => ((await prometheus.series(age)).length > 0 ? [] : [age]));
      await redis.stop();
      const missing = await untilNone(async () => {
        const found = await Promise.all(
          dashboardQueries()
            .filter(({ panel }) => STAGED.includes(panel))
            .map(async ({ panel, expr }) =>
              (await prometheus.series(expr)).length > 0 ? "" : panel,
            ),
        );
        const alerts = await prometheus.alerts();
        const lost = alerts.find(({ name }) => name === "SluiceStoreLost");
        return [...found, lost?.state === "firing" ? "" : "SluiceStoreLost"].filter(
          (each) => each !== "",
        );
      });
      expect(missing).toEqual([]);
    },
  );

  test("lets each alert fire in its unit test and stay silent in another", async () => {
    const { groups } = parse(readFileSync(`${deployed}alerts.yaml`, "utf8")) as {
      groups: { rules: { alert: string }[] }[];
    };
    const { tests } = parse(readFileSync(`${deployed}alerts.test.yaml`, "utf8")) as {
      tests: { name: string }[];
    };
    const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    expect(tests.map(({ name }) => name).toSorted()).toEqual(
      names.flatMap((name) => [`${name} fires`, `${name} stays silent`]).toSorted(),
    );
    if ("missing" in program) return;
    const promtool = program.args[0] ?? "";
    const run = promisify(execFile);
    await run(promtool, ["check", "config", "prometheus.yaml"], { cwd: deployed });
    const { stdout } = await run(promtool, ["test", "rules", "alerts.test.yaml"], {
      cwd: deployed,
    });
    expect(stdout).toContain("SUCCESS");
  });
});

/** What is still missing when patience ends; asked once a second. */
async function untilNone(missing: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const untilMs = systemTimer.now() + PATIENCE_MS;
  for (;;) {
    const left = await missing();
    if (left.length === 0 || systemTimer.now() > untilMs) return left;
    await systemTimer.sleep(1_000);
  }
}

function hostOf(url: string): string {
  return new URL(url).host;
}

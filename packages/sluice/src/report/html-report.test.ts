import { createHash } from "node:crypto";
import { loadScenario, simulate } from "@sluice/lab";
import { describe, expect, it } from "vitest";
import { htmlReport } from "./html-report.ts";
import { reportedScenario } from "./report-data.ts";
import type { ReportedScenario } from "./report-data.ts";

const HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u2028";
const ASSETS = { script: "let a = '</script>';", style: "b { color: red }" };

async function reported(title: string): Promise<ReportedScenario> {
  const text = JSON.stringify({
    kind: "ramp",
    title,
    rateLimit: { max: 10 },
    offered: [1, 20, 3],
    expect: { "stats.used": 99, "rows[0].used": 1 },
  });
  const scenario = loadScenario(text, "a.yaml");
  return reportedScenario("a.yaml", Object.keys(scenario.expect).length, await simulate(scenario));
}

describe("the report of sluice simulate --html", () => {
  it("allows by its policy the script and the style that stand in it, and nothing else", async () => {
    const html = htmlReport([await reported("a")], ASSETS);
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
    const script = /<script>([^]*?)<\/script>/.exec(html)?.[1] ?? "";
    const style = /<style>([^]*?)<\/style>/.exec(html)?.[1] ?? "";
    expect(policy).toBe(
      `default-src 'none'; script-src '${hash(script)}'; style-src '${hash(style)}'; base-uri 'none'; form-action 'none'`,
    );
  });

  it("keeps a hostile title as text, in the head, in the body and in the data", async () => {
    const html = htmlReport([await reported(HOSTILE)], ASSETS);
    expect(html).not.toContain("<img");
    expect(html.match(/<script/g)).toHaveLength(2);
    const data = /id="data">([^]*?)<\/script>/.exec(html)?.[1] ?? "";
    expect((JSON.parse(data) as ReportedScenario[])[0]?.title).toBe(HOSTILE);
  });

  it("names no other host and tells what was expected and what was found", async () => {
    const scenario = await reported("a");
    expect(scenario.expected).toBe(2);
    expect(scenario.missed).toEqual([{ path: "stats.used", expected: "99", found: "21" }]);
    const html = htmlReport([scenario], ASSETS);
    expect(html).not.toMatch(/(?:src|href)="|https?:\/\//);
    expect(html).toContain("a.yaml: 1 expectations missed");
  });
});

function hash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

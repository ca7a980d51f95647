/** What stands under `deploy/`, as far as it can be checked without Grafana, Prometheus, Kubernetes and a container engine. */
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadFlow } from "../src/flow/flow-file.ts";
import { CRD_SCHEMAS } from "./crd-schemas.ts";
import { dashboard, DASHBOARD, dashboardQueries } from "../../../test/grafana-dashboard.ts";
import type { Panel } from "../../../test/grafana-dashboard.ts";
import { filesIn, read } from "../../../test/tree.ts";

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Documented metrics that no panel shows, with the reason. */
const NOT_SHOWN: Readonly<Record<string, string>> = {
  pulsar_topics_count: "sluice_open_topics is shown",
  pulsar_rate_in: "an average over a minute; rate() of pulsar_in_messages_total is shown",
  pulsar_throughput_in: "as pulsar_rate_in",
  pulsar_rate_out: "shown for each subscription",
  pulsar_throughput_out: "shown for each subscription, in messages",
};

const documented = new Set(
  [
    ...read("docs/reference/metrics.md").matchAll(
      /^\| (`[^|]+`) +\| (?:counter|gauge|histogram) /gm,
    ),
  ]
    .flatMap(([, names = ""]) => [...names.matchAll(/`(\w+)`/g)])
    .map(([, name = ""]) => name),
);
const { groups } = parse(read("deploy/prometheus/alerts.yaml")) as {
  groups: readonly { readonly rules: readonly Alert[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);
const manifests = filesIn("deploy/kubernetes/").flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => document.toJS() as Manifest),
);

describe("the Grafana dashboard", () => {
  const { panels, templating } = dashboard();
  const shown = panels.filter(({ type }) => type !== "row");

  test("has panels with one id each, side by side and not on top of each other", () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const overlapping = panels.flatMap((one, at) =>
      panels.slice(at + 1).filter((other) => overlaps(one, other)),
    );
    expect(overlapping.map(({ title }) => title)).toEqual([]);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  test("says for every panel what it means, in which unit, and asks the chosen data source", () => {
    for (const { title, description, fieldConfig, datasource, targets = [] } of shown) {
      expect(description?.length, title).toBeGreaterThan(20);
      expect(fieldConfig?.defaults.unit, title).toBeDefined();
      expect(
        [datasource, ...targets.map((each) => each.datasource)].map((each) => each?.uid),
        title,
      ).toEqual([datasource, ...targets].map(() => "${datasource}"));
      expect(targets.length, title).toBeGreaterThan(0);
    }
    expect(templating.list.map(({ name }) => name)).toContain("datasource");
  });

  test("has a row for every stage", () => {
    const rows = panels.filter(({ type }) => type === "row").map(({ title }) => title);
    for (const stage of ["Ingress", "Fleet", "Pipeline", "Egress"])
      expect(
        rows.some((title) => title.startsWith(stage)),
        stage,
      ).toBe(true);
  });

  test("names no host", () => {
    expect(read(DASHBOARD)).not.toMatch(/https?:|localhost|\d+\.\d+\.\d+\.\d+/);
  });

  test("shows every documented metric, but for those that it says another way", () => {
    const asked = new Set(dashboardQueries().flatMap(({ expr }) => metricsOf(expr)));
    expect(documented.size).toBeGreaterThan(50);
    expect([...documented].filter((name) => !asked.has(name)).toSorted()).toEqual(
      Object.keys(NOT_SHOWN).toSorted(),
    );
  });
});

test("queries and alerts use documented metrics only", () => {
  const expressions = [...dashboardQueries(), ...alerts].map(({ expr }) => expr);
  const used = new Set(expressions.flatMap(metricsOf));
  // Prometheus' own: whether a scrape succeeded.
  expect([...used].filter((name) => name !== "up" && !documented.has(name))).toEqual([]);
});

test.each(alerts.map((alert) => [alert.alert, alert] as const))(
  "the alert %s says what happens, what it means and what to do",
  (_, { labels, annotations }) => {
    expect(["critical", "warning", "info"]).toContain(labels["severity"]);
    for (const part of ["summary", "description", "action"])
      expect(annotations[part]?.length, part).toBeGreaterThan(20);
  },
);

describe("the Kubernetes manifests", () => {
  const deployment = manifestOf("Deployment");
  const { template } = deployment.spec as { template: { spec: Pod } };
  const pod = template.spec;
  const flowText = manifestOf("ConfigMap").data?.["sluice.yaml"] ?? "";

  test("have a flow file that sluice check finds right", () => {
    expect(loadFlow(flowText, "sluice.yaml").name).toBe("shop");
  });

  test("give a replica more time to stop than its pipelines drain", () => {
    const drains = [...flowText.matchAll(/drain: (\d+)s/g)].map(([, seconds]) => Number(seconds));
    expect(drains.length).toBeGreaterThan(0);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Math.max(...drains) + 10);
  });

  test("scale a pipeline that the flow file has, no further than the fleet has members", () => {
    const { spec } = manifestOf("ScaledObject");
    const { triggers, maxReplicaCount } = spec as {
      triggers: { metadata: { url: string } }[];
      maxReplicaCount: number;
    };
    const [, name] = /\/api\/scale\/(.+)$/.exec(triggers[0]?.metadata.url ?? "") ?? [];
    const flow = parse(flowText) as {
      pipelines: Record<string, { fleet: { maxMembers: number } }>;
    };
    expect(maxReplicaCount).toBeLessThanOrEqual(flow.pipelines[name ?? ""]?.fleet.maxMembers ?? 0);
  });

  test("wait before fewer replicas run, with a setting that holds above 0 replicas", () => {
    const { spec } = manifestOf("ScaledObject");
    expect(spec).not.toHaveProperty("cooldownPeriod");
    expect(spec).toHaveProperty(
      "advanced.horizontalPodAutoscalerConfig.behavior.scaleDown.stabilizationWindowSeconds",
      120,
    );
  });

  test("hold no secret and mount every file that the flow file names", () => {
    expect(manifests.filter(({ kind }) => kind === "Secret")).toEqual([]);
    const mounts = pod.containers.flatMap(({ volumeMounts }) => volumeMounts);
    const named = [...flowText.matchAll(/File: ([^\s,}]+)/g)].map(([, path = ""]) => path);
    expect(named.length).toBeGreaterThan(1);
    for (const path of named)
      expect(
        mounts.some(({ mountPath }) => path.startsWith(`${mountPath}/`)),
        path,
      ).toBe(true);
  });

  test("probe what the administration answers, run without rights and bound their memory", () => {
    const [container] = pod.containers;
    expect(container?.readinessProbe.httpGet.path).toBe("/readyz");
    expect(container?.livenessProbe.httpGet.path).toBe("/healthz");
    expect(pod.securityContext["runAsNonRoot"]).toBe(true);
    expect(container?.resources.limits["memory"]).toBeDefined();
  });

  test.each(
    manifests.filter(({ kind }) => kind in CRD_SCHEMAS).map((each) => [each.kind, each] as const),
  )("have a %s with known keys only", (kind, manifest) => {
    const validate = new Ajv({ strict: true }).compile(CRD_SCHEMAS[kind] ?? {});
    validate(manifest);
    expect(validate.errors).toBeNull();
  });
});

/** No engine and no linter for it are needed for these; whether it builds is not checked here. */
test("the Dockerfile runs as a user without rights, asks /healthz, drains on SIGTERM and holds no secret", () => {
  const lines = read("deploy/Dockerfile").replaceAll("\\\n", " ").split("\n");
  const instructions = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith("FROM ")));
  const words = instructions.map((line) => line.trim().split(/\s+/)[0] ?? "");
  const KNOWN =
    "FROM WORKDIR COPY RUN ENV USER VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD".split(" ");
  expect(words.filter((word) => !KNOWN.includes(word))).toEqual([]);
  expect(
    instructions.filter((line) => /^FROM (?!\S+:[\w.-]+)/.test(line)),
    "images without a tag",
  ).toEqual([]);
  expect(last.filter((line) => line.startsWith("USER "))).toEqual(["USER 1000:1000"]);
  expect(last.some((line) => line.startsWith("HEALTHCHECK") && line.includes("/healthz"))).toBe(
    true,
  );
  expect(last).toContain("STOPSIGNAL SIGTERM");
  // As a list: a shell in between would not pass SIGTERM on.
  expect(last.filter((line) => /^(ENTRYPOINT|CMD) (?!\[)/.test(line))).toEqual([]);
  expect(
    instructions.filter((line) => /^(ARG|ENV) .*(token|secret|password|key)/i.test(line)),
  ).toEqual([]);
  expect(
    last.filter((line) => /^COPY (?!--from=)/.test(line)),
    "copies of the build context",
  ).toEqual([]);
});

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly {
    readonly readinessProbe: Probe;
    readonly livenessProbe: Probe;
    readonly resources: { readonly limits: Readonly<Record<string, string>> };
    readonly volumeMounts: readonly { readonly mountPath: string }[];
  }[];
}

interface Probe {
  readonly httpGet: { readonly path: string };
}

function manifestOf(kind: string): Manifest {
  const found = manifests.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`deploy/kubernetes has no ${kind}`);
  return found;
}

function overlaps({ gridPos: one }: Panel, { gridPos: other }: Panel): boolean {
  const apart =
    one.x + one.w <= other.x ||
    other.x + other.w <= one.x ||
    one.y + one.h <= other.y ||
    other.y + other.h <= one.y;
  return !apart;
}

/** Names of metrics in an expression: words before a brace or a range, or alone beside an operator. */
function metricsOf(expr: string): string[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, "")
    .replaceAll(/\b(?:by|without|ignoring|on)\s*\([^)]*\)/g, "")
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, "")
    .replaceAll(/\b\d+[smhd]\b/g, "");
  return [...bare.matchAll(/\b[a-z][a-z0-9_]*\b(?!\s*\()/g)]
    .map(([name]) =>
      name.replace(/_(?:bucket|sum|count)$/, (end) => (documented.has(name) ? end : "")),
    )
    .filter((name) => !["and", "or", "unless", "by", "without", "offset"].includes(name));
}

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemTimer } from "@sluice/core/system";
import { serverProgram } from "../programs/found.ts";
import { freePort, ServerProcess } from "./server-process.ts";

const ALERTS = fileURLToPath(new URL("../../deploy/prometheus/alerts.yaml", import.meta.url));

const POLL_MS = 100;

interface Series {
  readonly metric: Readonly<Record<string, string>>;
}

interface Rule {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
  readonly state: string;
}

/** A real Prometheus that scrapes every second and evaluates the alerts of `deploy/`. */
export class Prometheus implements AsyncDisposable {
  readonly #server: ServerProcess;
  readonly #startedMs = Date.now();

  private constructor(server: ServerProcess) {
    this.#server = server;
  }

  static async start(targets: readonly string[]): Promise<Prometheus> {
    const program = serverProgram("prometheus");
    if ("missing" in program) throw new Error(program.missing);
    const folder = mkdtempSync(join(tmpdir(), "sluice-prometheus-"));
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [ALERTS],
      scrape_configs: [{ job_name: "sluice", static_configs: [{ targets }] }],
    };
    // JSON is YAML.
    writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(config));
    const port = await freePort();
    const args = [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const server = new ServerProcess(folder, port, { command: program.command, args });
    await server.start();
    // It listens before it has read its data.
    while ((await fetch(`http://127.0.0.1:${port}/-/ready`)).status !== 200)
      await systemTimer.sleep(POLL_MS);
    return new Prometheus(server);
  }

  /** Series that an expression had at any time since the start. An expression that is wrong is an error. */
  async series(expr: string): Promise<readonly Series[]> {
    const answer = await this.#get("query_range", {
      query: expr,
      start: String(this.#startedMs / 1_000),
      end: String(Date.now() / 1_000),
      step: "1",
    });
    return (answer as { result: readonly Series[] }).result;
  }

  async labelValues(label: string, match: string): Promise<readonly string[]> {
    return (await this.#get(`label/${label}/values`, { "match[]": match })) as readonly string[];
  }

  async alerts(): Promise<readonly Rule[]> {
    const { groups } = (await this.#get("rules", { type: "alert" })) as {
      groups: readonly { rules: readonly Rule[] }[];
    };
    return groups.flatMap(({ rules }) => rules);
  }

  async #get(path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
    const url = `http://127.0.0.1:${this.#server.port}/api/v1/${path}?${new URLSearchParams(query).toString()}`;
    const response = await fetch(url);
    const answer = (await response.json()) as { status: string; data: unknown; error?: string };
    if (answer.status !== "success") throw new Error(`${query["query"] ?? path}: ${answer.error}`);
    return answer.data;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop();
  }
}

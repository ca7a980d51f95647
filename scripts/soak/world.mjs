// What the soak runs beside the service: Redis, the process under test, and its clients. Each is ended by its process id.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ensureRedis } from "../redis.mjs";

const path = (file) => fileURLToPath(new URL(file, import.meta.url));
const BIN = path("../../packages/sluice/bin/sluice.js");
const TOPIC = "public/default/orders";
/** Longest wait for what the process writes of its resources, ms. */
const PROBE_MAX_MS = 20_000;

/** A Redis server that keeps nothing; always on the same port. */
export class OwnRedis {
  #folder;
  #program;
  #child;
  port;

  constructor(folder, port) {
    this.#folder = folder;
    this.port = port;
    this.#program = ensureRedis() ?? "";
    if (this.#program === "") throw new Error("no redis-server; install it and try again");
  }

  async start() {
    const args = ["--port", String(this.port), "--bind", "127.0.0.1", "--save", ""];
    this.#child = spawn(this.#program, [...args, "--dir", this.#folder]);
    for await (const line of createInterface(this.#child.stdout))
      if (line.includes("Ready to accept")) break;
    this.#child.stdout.resume();
  }

  async kill() {
    await ended(this.#child, "SIGKILL");
  }

  /** FLUSHALL, without a client library. */
  async flush() {
    const { connect } = await import("node:net");
    const socket = connect(this.port, "127.0.0.1");
    socket.write("FLUSHALL\r\n");
    await once(socket, "data");
    socket.destroy();
  }
}

/** `sluice run` with a gateway and two pipelines. */
export class FlowProcess {
  /** Lines of standard error, the last ones first thrown away beyond a bound. */
  lines = [];
  /** Events by their kind, counted. */
  events = new Map();
  /** Lines that should not be there: errors, and what is no event at all, such as a warning of Node. */
  unexpected = [];
  ready;
  #child;
  #folder;
  text;

  constructor(folder, text) {
    this.#folder = folder;
    this.text = text;
  }

  async start() {
    this.write(this.text);
    this.#child = spawn(
      process.execPath,
      ["--import", path("probe.mjs"), BIN, "run", "flow.yaml", "--json"],
      { cwd: this.#folder, env: { ...process.env, SOAK_PROBE: this.#probeFile } },
    );
    createInterface(this.#child.stderr).on("line", (line) => this.#hear(line));
    const [line] = await Promise.race([
      once(createInterface(this.#child.stdout), "line"),
      once(this.#child, "exit"),
    ]);
    if (typeof line !== "string") throw new Error(this.unexpected.join("\n"));
    this.ready = JSON.parse(line);
  }

  get hasExited() {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  write(text) {
    writeFileSync(join(this.#folder, "flow.yaml"), text);
  }

  signal(name) {
    this.#child.kill(name);
  }

  hangUp() {
    this.signal("SIGHUP");
  }

  /** SIGTERM; the exit code, or the signal that ended the process. */
  async stop() {
    const exited = once(this.#child, "exit");
    this.signal("SIGTERM");
    const [code, signal] = await Promise.race([exited, sleep(60_000, [null, "nothing in 60 s"])]);
    return code ?? signal;
  }

  async kill() {
    await ended(this.#child, "SIGKILL");
  }

  /** Descriptors, resident memory in MB, and what keeps the event loop alive. Undefined if the process has ended. */
  async sample() {
    if (this.hasExited) return undefined;
    rmSync(this.#probeFile, { force: true });
    this.signal("SIGUSR2");
    const resources = await this.#probe();
    const { pid } = this.#child;
    const [, rss] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return {
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
      rssMb: Math.round(Number(rss) / 1024),
      resources,
    };
  }

  /** What the process writes after the signal; on a busy machine that takes more than a second. */
  async #probe() {
    const untilMs = performance.now() + PROBE_MAX_MS;
    for (;;) {
      await sleep(100);
      try {
        return JSON.parse(readFileSync(this.#probeFile, "utf8"));
      } catch (error) {
        // Not written, or not all of it.
        if (performance.now() > untilMs) throw error;
      }
    }
  }

  get #probeFile() {
    return join(this.#folder, "resources.json");
  }

  #hear(line) {
    let event;
    try {
      event = JSON.parse(line);
    } catch {
      this.unexpected.push(line);
      return;
    }
    this.events.set(event.event, (this.events.get(event.event) ?? 0) + 1);
    if (event.event === "error" || event.level === "error") this.unexpected.push(line);
    this.lines.push(line);
    if (this.lines.length > 2_000) this.lines.shift();
  }
}

/** The producer of the topic; after a cut another process goes on. */
export class Producer {
  /** Ids whose receipt has come. */
  stored = new Set();
  #url;
  #child;
  /** Ids of a process that was killed are not used again. */
  #next = 0;

  start(url) {
    this.#url = url;
    const child = fork(path("producer.mjs"), [this.#url, TOPIC, String(this.#next)]);
    child.on("message", (ids) => {
      for (const id of ids) this.stored.add(id);
    });
    this.#child = child;
    this.#next += 1_000_000;
  }

  async cut() {
    await ended(this.#child, "SIGKILL");
    this.start(this.#url);
  }

  async stop() {
    const exited = once(this.#child, "exit");
    this.#child.send("stop");
    const stopped = await Promise.race([exited, sleep(20_000)]);
    if (stopped === undefined) await this.kill();
  }

  async kill() {
    await ended(this.#child, "SIGKILL");
  }
}

/** Clients that post to the HTTP source. */
export class Posts {
  /** Ids that were answered 200. */
  stored = new Set();
  #url;
  #cutting = new AbortController();
  #isStopping = false;
  #next = 0;
  #running = [];

  constructor(url) {
    this.#url = url;
  }

  start() {
    this.#running = Array.from({ length: 5 }, () => this.#post());
  }

  /** Ends every request that has no answer yet. */
  cut() {
    this.#cutting.abort();
    this.#cutting = new AbortController();
  }

  async stop() {
    this.#isStopping = true;
    await Promise.all(this.#running);
  }

  async #post() {
    while (!this.#isStopping) {
      const id = this.#next++;
      try {
        const signal = AbortSignal.any([this.#cutting.signal, AbortSignal.timeout(10_000)]);
        const answer = await fetch(this.#url, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ id }),
          signal,
        });
        await answer.arrayBuffer();
        if (answer.status === 200) this.stored.add(id);
      } catch {
        // Cut, or the process is stopped: this id may or may not have been written.
      }
      await sleep(100);
    }
  }
}

/** Runs `sluice limits …`; fails if it does. */
export async function setLimits(admin, words) {
  const [verb, ...rest] = words;
  const child = spawn(process.execPath, [BIN, "limits", verb, ...rest, "--admin", admin], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`sluice limits ${words.join(" ")} exited with ${code}`);
}

export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function ended(child, signal) {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

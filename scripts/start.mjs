// What `npm start` shows: the quickstart's gateway, producers in another process, and a line for each change of
// a decision. Ctrl-C stops both.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { lineOfEvent } from "./start-lines.mjs";

const root = new URL("../", import.meta.url);
const path = (file) => fileURLToPath(new URL(file, root));
const FLOW = "examples/quickstart/sluice.yaml";
const PORTS = [6650, 7070];

/** How long children have to end before they are killed. */
const STOP_MS = 10_000;

/** Children, in the order in which they are stopped. */
const children = [];
let isStopping = false;
let stopping;

const { version } = JSON.parse(readFileSync(path("package.json"), "utf8"));
say(`\nSluice ${version}   flow control for message pipelines and services\n`);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void stop(0));

const { text, taken: moved } = await flowWithFreePorts();
const gateway = start(
  ["packages/sluice/bin/sluice.js", "run", "-", "--json"],
  ["pipe", "pipe", "pipe"],
);
gateway.stdin.end(text);
// The first decisions come while the producers still connect: they are shown after the line of the traffic.
const early = [];
let show = (line) => early.push(line);
createInterface(gateway.stderr).on("line", (line) => show(line));
const ready = JSON.parse(await firstLine(gateway, "the gateway"));
step("flow", `${FLOW}: 1 gateway, no errors`);
for (const port of moved)
  step("port", `${port} is taken; ${portInstead(port, ready)} is used instead`);
step("gateway", `${ready.gateway}   embedded broker, nothing to install`);
step("admin", `${ready.admin}     limits, why, /metrics, Pulsar's admin paths`);

const producers = start(
  ["examples/quickstart/producers.mjs", ready.gateway],
  ["ignore", "pipe", "inherit"],
);
const traffic = JSON.parse(await firstLine(producers, "the producers"));
step(
  "traffic",
  `${traffic.producers} producers, ${traffic.aware} aware, ${traffic.producers - traffic.aware} not; bulk-import is too fast on purpose\n`,
);

let isTold = false;
show = (line) => {
  const shown = lineOfEvent(line);
  if (shown === undefined || isStopping) return;
  say(shown);
  if (isTold || !shown.includes("throttled")) return;
  isTold = true;
  // After the lines of the first second, which has most of the changes.
  setTimeout(() => say(advice(ready.admin)), 2_500).unref();
};
early.forEach((line) => show(line));

function advice(admin) {
  const other = admin === "http://127.0.0.1:7070" ? "" : ` --admin ${admin}`;
  const commands = [
    [`npx sluice why${other}`, "what waits, and why?"],
    [
      `npx sluice limits set topic public/default/orders messages=3300/s${other}`,
      "let everyone through",
    ],
    [`npx sluice limits unset topic public/default/orders${other}`, "and back"],
    ["npx sluice simulate scenarios/", "the algorithms in virtual time"],
  ];
  const width = Math.max(...commands.map(([command]) => command.length));
  return `
Try in another terminal:

${commands.map(([command, what]) => `  ${command.padEnd(width)}   ${what}`).join("\n")}

Ctrl-C drains and stops. One line for each change of a decision, never for each message.
`;
}

/** The flow file; ports that are taken become free ones. */
async function flowWithFreePorts() {
  let flow = readFileSync(path(FLOW), "utf8");
  const taken = [];
  for (const port of PORTS) {
    if (await isFree(port)) continue;
    taken.push(port);
    flow = flow.replace(`127.0.0.1:${port}`, "127.0.0.1:0");
  }
  return { text: flow, taken };
}

function portInstead(port, { gateway: client, admin }) {
  return new URL(port === PORTS[0] ? client : admin).port;
}

async function isFree(port) {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

function start(args, stdio) {
  // In a process group of its own: Ctrl-C reaches this process alone, which stops the others in order.
  const child = spawn(process.execPath, args, { cwd: path("."), stdio, detached: true });
  children.unshift(child);
  child.on("exit", (code) => {
    if (isStopping) return;
    console.error(`${args[0]} has ended with ${code}`);
    void stop(1);
  });
  return child;
}

/** Stops producers, then the gateway, which drains. */
function stop(code) {
  stopping ??= stopAll(code);
  return stopping;
}

async function stopAll(code) {
  isStopping = true;
  say("\nstopping");
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await exited;
    clearTimeout(late);
  }
  say("stopped: all that was started has ended");
  process.exit(code);
}

async function firstLine(child, what) {
  for await (const line of createInterface({ input: child.stdout })) return line;
  for (const line of early) console.error(line);
  console.error(`${what} ended before it was ready`);
  return stop(1);
}

function step(name, what) {
  say(`  ${name.padEnd(8)} ✓ ${what}`);
}

function say(line) {
  process.stdout.write(`${line}\n`);
}

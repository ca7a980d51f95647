// What `npm start` shows: the quickstart's gateway and pipeline, a service and producers in other processes, and a
// line for each change of a decision. Ctrl-C stops all of them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { LineFold } from "./start/fold.mjs";
import { lineOfEvent } from "./start/lines.mjs";

const root = new URL("../", import.meta.url);
const path = (file) => fileURLToPath(new URL(file, root));
const QUICKSTART = "examples/quickstart";
const FLOW = `${QUICKSTART}/sluice.yaml`;
/** Ports that the flow file names: of the gateway, of the administration, of the service. */
const PORTS = { gateway: 6650, admin: 7070, service: 9000 };

/** How long children have to end before they are killed. */
const STOP_MS = 10_000;

/** Children, in the order in which they are stopped. */
const children = [];
let isStopping = false;
let isAdviceShown = false;
let stopping;
/** The first decisions come while the producers still connect: they are shown after the line of the traffic. */
const early = [];

const { version } = JSON.parse(readFileSync(path("package.json"), "utf8"));
say(`\nSluice ${version}   flow control for message pipelines and services\n`);
// SIGHUP: the terminal was closed. Children are in groups of their own, so that nothing else would end them.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => void stop(0));
// SIGTERM to npm ends npm and its shell, and is not passed on to here: a parent that has gone is the same wish.
const parent = process.ppid;
const PARENT_CHECK_MS = 500;
setInterval(() => process.ppid === parent || void stop(0), PARENT_CHECK_MS).unref();
// The reader of the lines has gone, as after `npm start | head`, or with its terminal.
process.stdout.on("error", () => void stop(1));

const taken = await takenPorts();
const service = start(
  [path(`${QUICKSTART}/service.mjs`), taken.has(PORTS.service) ? "0" : String(PORTS.service)],
  ["ignore", "pipe", "inherit"],
);
const { url: serviceUrl } = JSON.parse(await firstLine(service, "the service"));
// By its name if it can be used as it is: then `sluice why` names its lines, and changes of it are taken over.
const isFlowChanged = taken.size > 0;
const gateway = start(
  [path("packages/sluice/bin/sluice.js"), "run", isFlowChanged ? "-" : "sluice.yaml", "--json"],
  ["pipe", "pipe", "pipe"],
);
gateway.stdin.end(isFlowChanged ? flowText(serviceUrl) : "");
let show = (line) => early.push(line);
createInterface(gateway.stderr).on("line", (line) => show(line));
const ready = JSON.parse(await firstLine(gateway, "the gateway"));
step("flow", `${FLOW}: 1 gateway, 1 pipeline, no errors`);
const used = { gateway: ready.gateway, admin: ready.admin, service: serviceUrl };
for (const [name, port] of Object.entries(PORTS))
  if (taken.has(port))
    step("port", `${port} is taken; ${new URL(used[name]).port} is used instead`);
step("gateway", `${ready.gateway}   embedded broker, nothing to install`);
step("service", `${serviceUrl}     payments, in its own process; gets slow above 320/s`);
step("page", `${ready.admin}     what flows, what waits and why; limits can be changed there`);

const producers = start(
  [path(`${QUICKSTART}/producers.mjs`), ready.gateway],
  ["ignore", "pipe", "inherit"],
);
const traffic = JSON.parse(await firstLine(producers, "the producers"));
step(
  "traffic",
  `${traffic.producers} producers, ${traffic.aware} aware, ${traffic.producers - traffic.aware} not; bulk-import is too fast on purpose\n`,
);

/** The throttles of the five designs, as lines show them, that were not seen yet. */
const unseen = new Set(["topic-rate", "told ", "fleet-share", "concurrency", "peer-busy"]);

/** Without all five by then, the advice is shown all the same. */
const ADVICE_MS = 30_000;
setTimeout(advise, ADVICE_MS).unref();

const fold = new LineFold();
show = (json) => {
  if (isStopping) return;
  const line = lineOfEvent(json);
  if (line === undefined) return;
  if (line.isChange) fold.clear();
  const text = fold.offer(line, performance.now());
  if (text === undefined) return;
  sayNow(text);
  for (const word of unseen) if (text.includes(word)) unseen.delete(word);
  if (unseen.size === 0) advise();
};
early.forEach((line) => show(line));
const FOLD_CHECK_MS = 1_000;
setInterval(() => {
  if (!isStopping) for (const text of fold.due(performance.now())) sayNow(text);
}, FOLD_CHECK_MS).unref();

function advise() {
  if (isAdviceShown || isStopping) return;
  isAdviceShown = true;
  say(advice(ready.admin));
}

function advice(admin) {
  const found = unseen.size === 0 ? "Five throttles are at work now. " : "";
  const other = admin === "http://127.0.0.1:7070" ? "" : ` --admin ${admin}`;
  const commands = [
    [`npx sluice why${other}`, "what waits, and why?"],
    [`npx sluice top${other}`, "this, as a live table"],
    [
      `npx sluice limits set topic public/default/orders messages=3300/s${other}`,
      "let everyone through",
    ],
    [`npx sluice limits unset topic public/default/orders${other}`, "and back"],
    ["npx sluice simulate scenarios/", "the algorithms in virtual time"],
  ];
  const width = Math.max(...commands.map(([command]) => command.length));
  return `
${found}Look at ${admin}, and try in another terminal:

${commands.map(([command, what]) => `  ${command.padEnd(width)}   ${what}`).join("\n")}

Ctrl-C drains and stops. One line for each change of a decision; what repeats comes as one line with a count.
`;
}

async function takenPorts() {
  const found = new Set();
  for (const port of Object.values(PORTS)) if (!(await isFree(port))) found.add(port);
  return found;
}

/** The flow file; ports that are taken become free ones. */
function flowText(paymentsUrl) {
  let flow = readFileSync(path(FLOW), "utf8");
  for (const port of [PORTS.gateway, PORTS.admin])
    if (taken.has(port)) flow = flow.replace(`127.0.0.1:${port}`, "127.0.0.1:0");
  return flow.replace(`http://127.0.0.1:${PORTS.service}`, paymentsUrl);
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
  // The flow file names its module from its own folder.
  const child = spawn(process.execPath, args, { cwd: path(QUICKSTART), stdio, detached: true });
  children.unshift(child);
  child.on("exit", (code) => {
    if (isStopping) return;
    console.error(`${basename(args[0])} has ended with ${code}`);
    void stop(1);
  });
  return child;
}

/** Stops producers, then the gateway, which drains into the service, then the service. */
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
  if (isStopping) return stopping;
  for (const line of early) console.error(line);
  console.error(`${what} ended before it was ready`);
  return stop(1);
}

function step(name, what) {
  say(`  ${name.padEnd(8)} ✓ ${what}`);
}

/** With the local time. */
function sayNow(text) {
  say(`${new Date().toTimeString().slice(0, 8)}  ${text}`);
}

function say(line) {
  process.stdout.write(`${line}\n`);
}

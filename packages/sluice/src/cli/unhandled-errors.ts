import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import type { BrokerObserver } from "@sluice/gateway";

/** The packages of which this process consists; their folders hold `dist` or `src`. */
const PACKAGES = ["core", "egress", "fleet", "gateway", "lab", "pipeline", "pulsar"] as const;

/** A frame of a stack: `at name (file:///maps/enrich.mjs:7:3)`, or without name and parentheses. */
const FRAME = /^ *at (?:.*[ (])?((?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^\n]*?:\d+:\d+)\)?$/gm;

/**
 * A map module in this process may leave a promise without a catch, or throw from a timer. The module's message is settled by then,
 * so the error is told and everything goes on. An error of Sluice's own code ends the process as Node does by default: its state
 * is not known any more. Answers how to stop listening.
 */
export function listenForUnhandledErrors(tell: BrokerObserver): () => void {
  const own = ownFolders();
  const onError = (error: unknown): void => {
    const place = placeOf(error);
    if (place !== undefined && own.some((folder) => place.startsWith(folder))) endWith(error);
    else tell(eventOf(error, place));
  };
  process.on("uncaughtException", onError).on("unhandledRejection", onError);
  return () => {
    process.off("uncaughtException", onError).off("unhandledRejection", onError);
  };
}

function eventOf(error: unknown, place: string | undefined): Parameters<BrokerObserver>[0] {
  const where = place === undefined ? "" : ` at ${place}`;
  const text = `an error that nothing caught${where}: ${textOf(error)}; everything goes on. A map awaits its promises, or gives them a catch`;
  return { kind: "flow-unhandled-error", subject: place ?? "", text };
}

/** Where the code that failed stands: the first frame that is neither Node's nor a library's; undefined if there is none. */
export function placeOf(error: unknown): string | undefined {
  try {
    const { stack } = error as { readonly stack?: unknown };
    const files = [...String(stack).matchAll(FRAME)].map(([, file = ""]) => pathOf(file));
    return files.find((file) => !/[/\\]node_modules[/\\](?!@sluice[/\\]|sluice[/\\])/.test(file));
  } catch {
    return undefined;
  }
}

function pathOf(frame: string): string {
  return frame.startsWith("file://") ? fileURLToPath(frame) : frame;
}

function ownFolders(): readonly string[] {
  const others = PACKAGES.map((name) => new URL("../", import.meta.resolve(`@sluice/${name}`)));
  return [new URL("../../", import.meta.url), ...others].map((folder) => fileURLToPath(folder));
}

function textOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "it cannot be shown";
  }
}

function endWith(error: unknown): never {
  process.stderr.write(`${inspect(error)}\n`);
  // The event "exit" ends the programs of maps.
  process.exit(1);
}

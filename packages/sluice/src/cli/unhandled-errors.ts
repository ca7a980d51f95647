import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import type { BrokerObserver } from "@sluice/gateway";

/** The packages of which this process consists; their folders hold `dist` or `src`. */
const PACKAGES = ["core", "egress", "fleet", "gateway", "lab", "pipeline", "pulsar"] as const;

/** A frame of a stack: `at name (file:///maps/enrich.mjs:7:3)`, or without name and parentheses. */
const FRAME = /^ *at (?:.*[ (])?((?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^\n]*?:\d+:\d+)\)?$/gm;

/**
 * A map module in this process may leave a promise without a catch, or throw from a timer. The message of that call is
 * settled already, or fails at the map's `timeout`, so the error is told and the process goes on. Every other error ends the
 * process as Node does by default, because its state is not known any more: an error of Sluice's own code, an exception that went through
 * it, and any error while no map module runs here. Answers how to stop listening.
 */
export function listenForUnhandledErrors(
  tell: BrokerObserver,
  hasMapModules: () => boolean,
): () => void {
  const own = ownFolders();
  const isOwn = (file: string): boolean => own.some((folder) => file.startsWith(folder));
  const onError = (error: unknown, isOurs: boolean): void => {
    if (isOurs || !hasMapModules()) endWith(error);
    else tell(eventOf(error, placeOf(error)));
  };
  const onException = (error: unknown): void => onError(error, filesOf(error).some(isOwn));
  const onRejection = (error: unknown): void => onError(error, isOwn(placeOf(error) ?? ""));
  process.on("uncaughtException", onException).on("unhandledRejection", onRejection);
  return () => {
    process.off("uncaughtException", onException).off("unhandledRejection", onRejection);
  };
}

function eventOf(error: unknown, place: string | undefined): Parameters<BrokerObserver>[0] {
  const where = place === undefined ? "" : ` at ${place}`;
  const text = `an error that nothing caught${where}: ${textOf(error)}; the process goes on. Await the promises of a map, or give each a catch`;
  return { kind: "flow-unhandled-error", subject: place ?? "", text };
}

/** Where the code that failed stands: the first frame that is neither Node's nor a library's; undefined if there is none. */
export function placeOf(error: unknown): string | undefined {
  return filesOf(error).find(
    (file) => !/[/\\]node_modules[/\\](?!@sluice[/\\]|sluice[/\\])/.test(file),
  );
}

/** The files of the stack with their lines, without Node's own. */
function filesOf(error: unknown): readonly string[] {
  try {
    const { stack } = error as { readonly stack?: unknown };
    return [...String(stack).matchAll(FRAME)].map(([, file = ""]) => pathOf(file));
  } catch {
    return [];
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

import { readFile } from "node:fs/promises";
import { ConfigError, SluiceError } from "@sluice/core";
import { systemTimer, systemWallClock } from "@sluice/core/system";
import type { AdministrableGateway, BrokerObserver } from "@sluice/gateway";
import { EventFeed, startAdmin } from "@sluice/gateway/admin";
import type { RunningAdmin, StartAdminOptions } from "@sluice/gateway/admin";
import { EventLines } from "../log/event-lines.ts";
import type { ExitCode } from "./main.ts";
import { unreadable } from "./unreadable.ts";
import { version } from "./version.ts";

/** A broker, or a gateway in front of a cluster. */
export interface RunningServer extends AdministrableGateway {
  readonly url: string;
  close(): Promise<void>;
}

/** What runs until a signal: a gateway, and its administration if it has one. */
export interface Served {
  readonly start: (observe: BrokerObserver) => Promise<RunningServer>;
  readonly admin: Pick<StartAdminOptions, "listen" | "advertisedHost" | "token"> | undefined;
  /** Where a key of the flow file stands. */
  readonly placeOf?: NonNullable<StartAdminOptions["placeOf"]>;
  /** Events as JSON. */
  readonly json: boolean;
}

export interface Running {
  readonly broker: RunningServer;
  readonly admin: RunningAdmin | undefined;
}

/** Runs a broker until SIGINT or SIGTERM, then drains it. Events go to standard error, line by line. */
export async function serve(
  served: Served,
  end: (code: ExitCode) => void,
  onReady: (running: Running) => Promise<void>,
): Promise<void> {
  const stopped = untilSignal();
  const lines = new EventLines(systemTimer, served.json, (line) => {
    process.stderr.write(`${line}\n`);
  });
  const events = new EventFeed(systemWallClock);
  events.listen((event) => lines.tell(event), 0);
  const running = await orFail(start(served, events), end);
  if (running !== undefined) {
    await onReady(running);
    await stopped;
    await orFail(drain(running), end);
  }
  lines.close();
}

async function start(
  { start: begin, admin, placeOf }: Served,
  events: EventFeed,
): Promise<Running> {
  const broker = await begin((event) => events.push(event));
  if (admin === undefined) return { broker, admin: undefined };
  try {
    const onError = (error: unknown): void => events.push({ kind: "error", error });
    const places = placeOf && { placeOf };
    const options = { ...admin, ...places, broker, events, version, onError };
    return { broker, admin: await startAdmin(options) };
  } catch (error) {
    await broker.close();
    throw error;
  }
}

async function drain({ broker, admin }: Running): Promise<void> {
  await admin?.close();
  await broker.close();
}

/** The result; or, after a failure that is no mistake of usage, a line that says why and exit code 1. */
export async function orFail<T>(
  work: Promise<T>,
  end: (code: ExitCode) => void,
): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof SluiceError) || error instanceof ConfigError) throw error;
    process.stderr.write(`${error.message}\n`);
    end(1);
    return undefined;
  }
}

/** Resolves with the first signal. From then on a signal does what it does to any process. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve();
    };
    process.on("SIGINT", stop).on("SIGTERM", stop);
  });
}

export async function contentOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw unreadable(file, "read", cause);
  }
}

/** A public key: Pulsar's own tool writes DER, others PEM. */
export async function publicKeyOf(file: string): Promise<string | Buffer> {
  const content = await contentOf(file);
  const text = content.toString("latin1");
  return text.startsWith("-----BEGIN") ? text : content;
}

/** A bearer token in a file, without the line's end. */
export async function bearerTokenOf(file: string): Promise<string> {
  const token = (await contentOf(file)).toString("utf8").trim();
  if (!/^[\x21-\x7E]+$/.test(token))
    throw new ConfigError(`${file} must hold one token of visible ASCII characters`);
  return token;
}

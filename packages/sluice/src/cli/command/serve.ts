import { ConfigError, SluiceError } from "@sluice/core";
import { systemTimer, systemWallClock } from "@sluice/core/system";
import type { AdministrableGateway, BrokerObserver } from "@sluice/gateway";
import { EventFeed, startAdmin } from "@sluice/gateway/admin";
import type { AdminAddition, RunningAdmin, StartAdminOptions } from "@sluice/gateway/admin";
import { EventLines } from "../../log/event-lines.ts";
import type { ExitCode } from "../main.ts";
import { version } from "../version.ts";

/** A broker, or a gateway in front of a cluster. */
export interface RunningServer extends AdministrableGateway {
  readonly url: string;
  close(): Promise<void>;
}

/** What was started: a gateway, pipelines, or both. */
export interface Started {
  readonly gateway?: RunningServer | undefined;
  /** The names of the pipelines. */
  pipelines?(): readonly string[];
  /** What the administration tells beside the gateway. */
  readonly addition?: AdminAddition | undefined;
  /** Resolves when there is nothing more to do; absent: never. */
  readonly ended?: Promise<void> | undefined;
  /** Ends what reads from the gateway, while the gateway and the administration still serve. */
  drain?(): Promise<void>;
  close(): Promise<void>;
}

/** What runs until a signal, with its administration if it has one. */
export interface Served {
  readonly start: (observe: BrokerObserver) => Promise<Started>;
  readonly admin: Pick<StartAdminOptions, "listen" | "advertisedHost" | "token"> | undefined;
  /** Where a key of the flow file stands. */
  readonly placeOf?: NonNullable<StartAdminOptions["placeOf"]>;
  /** Events as JSON. */
  readonly json: boolean;
  /** Whether standard output belongs to the messages of a sink. Default: false. */
  readonly writesStdout?: boolean;
}

export interface Running extends Started {
  readonly admin: RunningAdmin | undefined;
}

/** Runs until SIGINT or SIGTERM, or until the end, then drains. A second signal ends the process at once. Events go to standard error, line by line. */
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
    await Promise.race([stopped.promise, ...(running.ended === undefined ? [] : [running.ended])]);
    await orFail(drain(running), end);
  }
  stopped.cancel();
  lines.close();
}

async function start(
  { start: begin, admin, placeOf }: Served,
  events: EventFeed,
): Promise<Running> {
  const started = await begin((event) => events.push(event));
  if (admin === undefined) return { ...started, admin: undefined };
  const { gateway: broker, addition } = started;
  try {
    const onError = (error: unknown): void => events.push({ kind: "error", error });
    const places = placeOf && { placeOf };
    const parts = { ...(broker !== undefined && { broker }), ...(addition && { addition }) };
    const options = { ...admin, ...places, ...parts, events, version, onError };
    return { ...started, admin: await startAdmin(options) };
  } catch (error) {
    await started.drain?.();
    await started.close();
    throw error;
  }
}

/** Sources first, the gateway last. */
async function drain(running: Running): Promise<void> {
  try {
    await running.drain?.();
  } finally {
    await running.admin?.close();
    await running.close();
  }
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
function untilSignal(): { readonly promise: Promise<void>; readonly cancel: () => void } {
  const stopping = new AbortController();
  const stop = (): void => {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    stopping.abort();
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  const promise = new Promise<void>((resolve) => {
    stopping.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  return { promise, cancel: stop };
}

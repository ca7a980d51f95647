import { systemTimer, systemWallClock } from "@sluice/core/system";
import type { AdministrableGateway, BrokerObserver } from "@sluice/gateway";
import { EventFeed, processMetrics, startAdmin } from "@sluice/gateway/admin";
import type { AdminAddition, RunningAdmin, StartAdminOptions } from "@sluice/gateway/admin";
import { hostname } from "node:os";
import type { FlowPipelines } from "../../pipelines/flow-pipelines.ts";
import type { SharedStore } from "../../live/detail/pool-roster.ts";
import { openDashboard } from "../../live/dashboard.ts";
import { EventLines } from "../../log/event-lines.ts";
import { OtlpExporter } from "../../telemetry/otlp-exporter.ts";
import { otlpRequest } from "../../telemetry/otlp-request.ts";
import { otlpSettingsOf } from "../../telemetry/otlp-settings.ts";
import type { OtlpSettings } from "../../telemetry/otlp-settings.ts";
import type { StopSignals } from "../stop-signals.ts";
import { listenForUnhandledErrors } from "../unhandled-errors.ts";
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
  /** Resolves when all that was started serves; absent: it does already. */
  readonly ready?: Promise<void> | undefined;
  /** What the administration tells beside the gateway. */
  readonly addition?: AdminAddition | undefined;
  /** What the dashboard shows beside the gateway. */
  readonly flowPipelines?: FlowPipelines | undefined;
  /** Where replicas meet; absent without a store. */
  readonly sharedStore?: SharedStore | undefined;
  /** Resolves when there is nothing more to do; absent: never. */
  readonly ended?: Promise<void> | undefined;
  /** Ends what reads from the gateway, while the gateway and the administration still serve. */
  drain?(): Promise<void>;
  close(): Promise<void>;
}

/** What runs until a signal, with its administration if it has one. */
export interface Served {
  readonly start: (observe: BrokerObserver) => Promise<Started>;
  readonly admin:
    | Pick<StartAdminOptions, "listen" | "advertisedHost" | "token" | "readWithoutToken">
    | undefined;
  /** What the dashboard is headed by: the name of the flow, and its file unless it came through standard input. */
  readonly title: { readonly flow: string; readonly file?: string | undefined };
  /** Where a key of the flow file stands. */
  readonly placeOf?: (path: readonly (string | number)[]) => string | undefined;
  /** Events as JSON. */
  readonly json: boolean;
  /** Whether modules of maps run in this process, outside of threads. Default: none do. */
  readonly hasMapModules?: () => boolean;
  /** Whether standard output belongs to the messages of a sink. Default: false. */
  readonly writesStdout?: boolean;
}

export interface Running extends Started {
  readonly admin: RunningAdmin | undefined;
}

/** A start that takes longer says what it waits for, ms. */
const SLOW_MS = 2_000;

/** Runs until the first signal, or until the end, then drains. Events go to standard error, line by line. */
export async function serve(
  served: Served,
  signals: StopSignals,
  /** Called when all of it serves; before that with the reason, if it takes long. */
  onReady: (running: Running, notReady?: string) => Promise<void>,
): Promise<void> {
  const otlp = otlpSettingsOf(process.env);
  const world = { timer: systemTimer, wallClock: systemWallClock };
  const lines = new EventLines(world, served.json, (line) => {
    process.stderr.write(`${line}\n`);
  });
  const events = new EventFeed(systemWallClock);
  events.listen((event) => lines.tell(event), 0);
  const unlisten = listenForUnhandledErrors(
    (event) => events.push(event),
    () => served.hasMapModules?.() ?? false,
  );
  try {
    const running = await start(served, events);
    const exporter = otlp && startExports(otlp, running, events);
    const { ended } = running;
    const over = Promise.race([signals.first, ...(ended === undefined ? [] : [ended])]);
    await whenReady(running, over, onReady);
    await over;
    await drain(running, exporter);
  } finally {
    unlisten();
    lines.close();
  }
}

async function start(
  { start: begin, admin, placeOf, title }: Served,
  events: EventFeed,
): Promise<Running> {
  const started = await begin((event) => events.push(event));
  if (admin === undefined) return { ...started, admin: undefined };
  const { gateway: broker, addition, flowPipelines: pipelines } = started;
  const onError = (error: unknown): void => events.push({ kind: "error", error });
  const dashboard = openDashboard(
    {
      gateway: broker,
      pipelines,
      shared: started.sharedStore,
      placeOf: placeOf ?? (() => undefined),
    },
    { timer: systemTimer, wallClock: systemWallClock, events, onError, version, title },
  );
  try {
    const places = placeOf && { placeOf };
    const parts = { ...(broker !== undefined && { broker }), ...(addition && { addition }) };
    const { routes } = dashboard;
    const options = { ...admin, ...places, ...parts, events, version, onError, routes };
    const running = await startAdmin(options);
    const close = async (): Promise<void> => {
      await dashboard.close();
      await running.close();
    };
    return { ...started, admin: { url: running.url, close } };
  } catch (error) {
    await dashboard.close();
    await started.drain?.();
    await started.close();
    throw error;
  }
}

/** Tells that it is ready, and before that, if it takes long, what it waits for. Resolves then, or when it is over. */
async function whenReady(
  running: Running,
  over: Promise<void>,
  onReady: (running: Running, notReady?: string) => Promise<void>,
): Promise<void> {
  const { ready, addition } = running;
  const done = new AbortController();
  const isOver = over.then(() => true);
  void isOver.then(() => done.abort());
  const slow = systemTimer.sleep(SLOW_MS, done.signal).then(
    () => onReady(running, addition?.notReady() ?? "it starts"),
    () => undefined,
  );
  await Promise.race([ready, slow]);
  done.abort();
  // A pipeline that is stopped before it has begun is not ready either.
  if ((await Promise.race([ready, isOver])) === true) return;
  await onReady(running);
}

/** Exports metrics as the variables of OpenTelemetry ask for. */
function startExports(
  settings: OtlpSettings,
  { gateway, addition }: Running,
  events: EventFeed,
): OtlpExporter {
  return new OtlpExporter(settings, {
    collect: processMetrics({ gateway, addition, events, timer: systemTimer }),
    send: otlpRequest(settings),
    timer: systemTimer,
    wallClock: systemWallClock,
    scope: { name: "sluice", version },
    instance: {
      "service.version": version,
      "service.instance.id": `${hostname()}:${process.pid}`,
    },
    tell: (event) => events.push(event),
  });
}

/** Sources first, then the last export, which has what the drain did; the gateway last. */
async function drain(running: Running, exporter: OtlpExporter | undefined): Promise<void> {
  try {
    await running.drain?.();
  } finally {
    await exporter?.close();
    await running.admin?.close();
    await running.close();
  }
}

import { fileURLToPath } from "node:url";
import type { Route } from "@sluice/gateway/admin";
import { LiveDetails } from "./detail/live-details.ts";
import { LiveFeed, SAMPLE_MS } from "./live-feed.ts";
import type { FeedWorld } from "./live-feed.ts";
import type { LiveHello } from "./live-message.ts";
import { liveRoutes } from "./live-routes.ts";
import { SAMPLE_FORMAT } from "./packed-sample.ts";
import { readPage } from "./page/page-file.ts";
import { pageRoutes } from "./page/page-routes.ts";
import { LiveSampler } from "./sample/live-sampler.ts";
import type { SampledProcess } from "./sample/live-sampler.ts";

interface DashboardWorld extends FeedWorld {
  readonly version: string;
  readonly title: { readonly flow: string; readonly file?: string | undefined };
}

/** The bundle beside the compiled sources. In a checkout the sources run from `src`, and the bundle is in `dist` too. */
const PAGE_FOLDER = fileURLToPath(new URL("../../dist/page/", import.meta.url));

/** The page and its stream. It samples from now on until `close`, whether a page looks or not. */
export function openDashboard(
  sampled: Omit<SampledProcess, "clock" | "processId">,
  world: DashboardWorld,
): { readonly routes: readonly Route[]; close(): Promise<void> } {
  const { timer, wallClock, version, title } = world;
  const whole = { ...sampled, clock: timer, processId: process.pid };
  const sampler = new LiveSampler(whole);
  const feed = new LiveFeed(sampler, new LiveDetails(whole), world);
  const startedAtMs = wallClock.now();
  const hello = (): Omit<LiveHello, "canChange"> => ({
    version,
    format: SAMPLE_FORMAT,
    flow: title.flow,
    ...(title.file !== undefined && { file: title.file }),
    member: sampler.member,
    startedAtMs,
    sampleMs: SAMPLE_MS,
  });
  return {
    routes: [...pageRoutes(readPage(PAGE_FOLDER)), ...liveRoutes(feed, hello)],
    close: () => feed.close(),
  };
}

import { render } from "preact";
import { FleetPage } from "./fleet/fleet-page.tsx";
import { Frame } from "./frame/frame.tsx";
import { startKeys } from "./frame/keys.tsx";
import { later } from "./frame/later.tsx";
import { startRouter } from "./frame/router.ts";
import { startTheme } from "./frame/theme.ts";
import { startTicking } from "./frame/ticking.ts";
import { startLive } from "./live/live-store.ts";
import { OverviewPage } from "./overview/overview-page.tsx";
import { TopicPage } from "./topic/topic-page.tsx";

const PAGES = {
  overview: OverviewPage,
  topics: TopicPage,
  fleet: FleetPage,
  // It brings the simulator along.
  lab: later(async () => (await import("./lab/lab-page.tsx")).LabPage),
};

startTheme();
startRouter();
startKeys();
startLive();
void startTicking();
render(<Frame pages={PAGES} />, document.body);

import type { AdministrableGateway } from "@sluice/gateway/admin";
import type { LiveShare } from "../live-message.ts";
import { roundedIfKnown } from "./rounded.ts";

type Shares = NonNullable<AdministrableGateway["administered"]["shares"]>;
type SharedState = ReturnType<Shares["states"]>[number];

/** What this gateway knows of a limit that it shares with others. `max` is the limit itself. */
export function sharedShare({ pool, fleet }: SharedState, max: number | undefined): LiveShare {
  return {
    pool,
    share: roundedIfKnown(fleet?.share),
    ceiling: roundedIfKnown(fleet?.ceiling),
    max,
    usage: fleet?.usage === undefined ? undefined : Math.round(fleet.usage * 100) / 100,
    members: Math.max(1, fleet?.membership?.size ?? 1),
    syncAgeMs: roundedIfKnown(fleet?.membership?.syncAgeMs),
  };
}

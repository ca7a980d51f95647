import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { connect } from "../src/client/api/connect.ts";
import type { Client } from "../src/client/api/client.ts";
import type { ClientOptions } from "../src/client/api/client-options.ts";
import type { ClientEvent } from "../src/client/event/client-event.ts";
import type { ScriptedBroker } from "./scripted-broker.ts";

/** The wall clock at the start of a test. */
const WALL_START_MS = 1_700_000_000_000;

/** A client in virtual time, connected to a scripted peer. */
export interface VirtualClient {
  readonly client: Client;
  readonly timer: VirtualTimer;
  readonly events: ClientEvent[];
}

export async function connectTo(
  broker: ScriptedBroker,
  options: ClientOptions = {},
  url = "pulsar://broker:6650",
): Promise<VirtualClient> {
  const timer = new VirtualTimer();
  const events: ClientEvent[] = [];
  const dependencies = dependenciesOf(broker, timer);
  const onEvent = (event: ClientEvent): void => void events.push(event);
  const client = await connect(url, { onEvent, dependencies, ...options });
  return { client, timer, events };
}

export function dependenciesOf(
  broker: ScriptedBroker,
  timer: VirtualTimer,
): NonNullable<ClientOptions["dependencies"]> {
  const wallClock = { now: () => WALL_START_MS + timer.now() };
  return { timer, wallClock, random: new SeededRandom(1), dial: broker.dial };
}

/** One broker of Pulsar for neighbouring test files: each start takes ten seconds or more. */
import { RealBroker } from "./real-broker.ts";
import type { RealBrokerOptions } from "./real-broker.ts";

interface Shared {
  readonly options: string;
  readonly broker: Promise<RealBroker>;
}

let shared: Shared | undefined;

/** The broker with these options, which ends with the process, or when one with other options is asked for. */
export async function sharedBroker(options: RealBrokerOptions): Promise<RealBroker> {
  const wanted = JSON.stringify(options);
  if (shared?.options !== wanted) {
    const previous = shared?.broker;
    shared = { options: wanted, broker: startAfter(previous, options) };
  }
  return shared.broker;
}

async function startAfter(
  previous: Promise<RealBroker> | undefined,
  options: RealBrokerOptions,
): Promise<RealBroker> {
  // A broker that did not start has failed the tests that asked for it.
  const broker = await previous?.catch(() => undefined);
  await broker?.close();
  return RealBroker.start(options);
}

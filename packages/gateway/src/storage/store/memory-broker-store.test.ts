import { describeBrokerStore } from "../../../test/broker-store-contract.ts";
import { MemoryBrokerStore } from "./memory-broker-store.ts";

describeBrokerStore("a store in memory", () => Promise.resolve(new MemoryBrokerStore()));

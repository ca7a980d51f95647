import type { Driver } from "./driver.ts";
import { ProcessDriver } from "./process-driver.ts";
import { SluiceDriver } from "./sluice-driver.ts";

const UNCOMPRESSED = "does not compress";

export const SLUICE: Driver = new SluiceDriver();
export const PYTHON: Driver = new ProcessDriver("python");
export const JAVA: Driver = new ProcessDriver("java");
export const FLEX: Driver = new ProcessDriver("flex", {
  earliest: "reads only what is sent after it has subscribed",
  ids: "does not tell the ids of what it sends",
  keys: "sends no keys",
  partitions: "never asks whether a topic has partitions",
  lz4: UNCOMPRESSED,
  zlib: UNCOMPRESSED,
  zstd: UNCOMPRESSED,
  snappy: UNCOMPRESSED,
  patterns: "reads one topic",
  tls: "trusts any certificate",
  reconnection: "loses count of its messages when it connects again",
});

export const GO: Driver = new ProcessDriver("go");

export const FOREIGN: readonly Driver[] = [PYTHON, JAVA, FLEX, GO];

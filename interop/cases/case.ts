import type { Ability, Driver } from "../drivers/driver.ts";
import type { Stage } from "./stage.ts";

/** A promise that holds for every client with every broker. */
export interface Case {
  readonly name: string;
  /** A client that lacks one of these is not asked. */
  readonly needs: readonly Ability[];
  /** How many the topic has; none unless said. */
  readonly partitions?: number;
  run(stage: Stage): Promise<void>;
}

/** Why the case cannot be put to these clients, if it cannot. */
export function obstacleTo({ needs }: Case, drivers: readonly Driver[]): string | undefined {
  for (const { name, missing, lacks } of drivers) {
    if (missing !== undefined) return `${name}: ${missing}`;
    for (const need of needs) if (lacks[need] !== undefined) return `${name} ${lacks[need]}`;
  }
  return undefined;
}

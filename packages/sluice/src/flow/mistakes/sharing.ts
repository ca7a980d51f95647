import { ConfigError } from "@sluice/core";
import { requireFleet, requireShareable } from "@sluice/gateway/internal";
import type { LimitsBlock, Problem } from "@sluice/lab/file";
import { sharingMistake } from "../schema/flow-store.ts";
import type { FlowStore } from "../schema/flow-store.ts";

/** Limits that are shared without a store, or under names that no store can have. */
export function sharingMistakes(
  limits: LimitsBlock | undefined,
  { name, store }: { readonly name: string; readonly store: FlowStore },
): readonly Problem[] {
  const { broker, groups = {} } = limits ?? {};
  const shared = Object.keys(groups).filter((group) => groups[group]?.shared === true);
  const path = ["gateway", "limits"];
  const mistakes = [
    ...(broker?.shared === true ? sharingMistake(store, [...path, "broker", "shared"]) : []),
    ...shared.flatMap((group) => [
      ...sharingMistake(store, [...path, "groups", group, "shared"]),
      ...refusedBy([...path, "groups", group], () =>
        requireShareable({ level: "group", name: group }),
      ),
    ]),
  ];
  if (broker?.shared !== true && shared.length === 0) return mistakes;
  return [...refusedBy(["name"], () => requireFleet({ name })), ...mistakes];
}

function refusedBy(path: readonly string[], check: () => void): readonly Problem[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{ path, message: `cannot be shared: ${error.message}`, isMissing: false }];
  }
}

import type { Route } from "./http/router.ts";
import type { MetricsWriter } from "./observe/metrics-writer.ts";

type Keys = Readonly<Record<string, unknown>>;

/** What another part of the process, such as its pipelines, adds to the administration. */
export interface AdminAddition {
  /** Further keys of `/api/state`. */
  readonly state: () => Keys;
  /** Whether a name that `why` is asked for is one of its own. */
  readonly knows: (name: string) => boolean;
  /** The names that `why` takes, for the answer to one that nothing has. */
  readonly names: () => readonly string[];
  /** Further keys of `/api/why`; of `name` only, if it is given. */
  readonly why: (name: string | undefined) => Keys;
  /** Further keys of `/api/limits`. */
  readonly limits: () => Keys;
  readonly addMetrics: (to: MetricsWriter) => void;
  /** Undefined while it serves; else why it does not. */
  readonly notReady: () => string | undefined;
  readonly routes: readonly Route[];
}

/** Of a process that is a gateway and nothing else. */
export const NO_ADDITION: AdminAddition = {
  state: () => ({}),
  knows: () => false,
  names: () => [],
  why: () => ({}),
  limits: () => ({}),
  addMetrics: () => {},
  notReady: () => undefined,
  routes: [],
};

import type { OpenContext } from "../connector/open-context.ts";
import type { Mapper } from "./mapper.ts";

/** A map that a pipeline opens when it starts: a module, threads, a child process. */
export interface MapConnector<I = unknown, O = unknown> {
  /** Its name in a flow file, such as `module` or `command`. */
  readonly kind: string;
  open(context: OpenContext): Promise<Mapper<I, O>>;
}

import { SluiceError } from "@sluice/core";

/** A map failed outside of this process's own code: in a worker thread or in a child process. */
export class MapError extends SluiceError {
  override readonly name = "MapError";
  readonly code = "CONNECTION";
}

import type { RampOptions } from "@sluice/core";

/** What happens to a pool at an instant. An action on a process that is not there changes nothing. */
export type PoolAction =
  | { readonly do: "join"; readonly id: string; readonly asksPerSecond?: number | undefined }
  /** `restart`: crashes, and a process with the same id starts at once. */
  | { readonly do: "leave" | "crash" | "restart"; readonly name: string }
  /** `cut`: no message passes. `mute`: replies are lost. */
  | { readonly do: "pause" | "cut" | "mute"; readonly name: string; readonly forMs: number }
  /** The process asks for this many tokens in a second; undefined: all that it can get. */
  | { readonly do: "demand"; readonly name: string; readonly asksPerSecond: number | undefined }
  /** The wall clock of a process is set. */
  | { readonly do: "clock-step"; readonly name: string; readonly byMs: number }
  /** The store loses the entry of one member. */
  | { readonly do: "lose"; readonly name: string }
  | { readonly do: "flush" }
  | { readonly do: "store-down"; readonly forMs: number }
  | { readonly do: "store-clock-step"; readonly byMs: number }
  /** What the store holds now comes back after `lagMs`, in a new run of the server. */
  | { readonly do: "failover"; readonly lagMs: number }
  /** The limits of the whole pool are set. */
  | { readonly do: "limits"; readonly rateLimit: RampOptions };

export interface PoolEvent {
  readonly atMs: number;
  readonly action: PoolAction;
}

/** The id, or the first free name made of it: b#2 for a second process with the id b. */
export function nameOf(id: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(id)) return id;
  let number = 2;
  while (isTaken(`${id}#${number}`)) number++;
  return `${id}#${number}`;
}

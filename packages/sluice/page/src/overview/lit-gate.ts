import { signal } from "@preact/signals";
import type { GateNumber } from "../words/reasons.ts";

/** The gate whose row in Waiting now is under the pointer or has the focus. */
export const litGate = signal<GateNumber | undefined>(undefined);

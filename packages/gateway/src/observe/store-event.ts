/** What an operator should know of the store behind a shared limit. */
export type StoreEvent =
  /** A gateway has only its safe share: the store cannot be reached, or refuses it. */
  | {
      readonly kind: "store-lost";
      /** "group analytics" or "broker". */
      readonly target: string;
      readonly unit: "messages" | "bytes";
      readonly reason: string;
      /** What this gateway may use until then, per second; 0 if the store refuses it. */
      readonly safeShare: number;
    }
  | {
      readonly kind: "store-back";
      readonly target: string;
      readonly unit: "messages" | "bytes";
      readonly afterMs: number;
    }
  /** A limit that was set here is not in the store yet, so that other gateways do not know it. It is tried again. */
  | {
      readonly kind: "limit-not-stored";
      readonly target: string;
      readonly unit: "messages" | "bytes";
      readonly reason: string;
    }
  | { readonly kind: "store-warning"; readonly target: string; readonly text: string };

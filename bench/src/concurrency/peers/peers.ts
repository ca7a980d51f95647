import { RfcLimit, VectorLimit } from "@sluice/core";
import type { LimitAlgorithm, Random } from "@sluice/core";
import type { PeerBounds } from "./bounds.ts";
import { EnvoyGradientLimit } from "./envoy-gradient.ts";
import { FailsafeGoLimit } from "./failsafe-go.ts";
import { NetflixAimdLimit } from "./netflix-aimd.ts";
import { NetflixGradientLimit } from "./netflix-gradient.ts";
import { NetflixGradient2Limit } from "./netflix-gradient2.ts";
import { NetflixVegasLimit } from "./netflix-vegas.ts";
import { PalantirLimit } from "./palantir.ts";
import { Vector2020Limit } from "./vector-2020.ts";
import { WindowedLimit } from "./windowed.ts";

/** A limiter to compare with. */
export interface Peer {
  readonly name: string;
  /** What holds a permit: each attempt, or a request with all its retries and the waits between. */
  readonly layering: "per-attempt" | "whole-request";
  create(random: Random): LimitAlgorithm;
}

/** All of them free to go from 1 to 200, so that no bound decides. */
export const PEERS: readonly Peer[] = peersWithin({ minLimit: 1, maxLimit: 200 });

/** The same with the default bounds of each. */
export const PEERS_AS_SHIPPED: readonly Peer[] = peersWithin({});

function peersWithin(bounds: Partial<Pick<PeerBounds, "minLimit" | "maxLimit">>): readonly Peer[] {
  const perAttempt = (name: string, create: Peer["create"]): Peer => ({
    name,
    layering: "per-attempt",
    create,
  });
  return [
    // Vector and the document it comes from have 1 and 200 of their own.
    { name: "vector head", layering: "whole-request", create: () => new VectorLimit() },
    perAttempt("vector per attempt", () => new VectorLimit()),
    perAttempt("vector 2020-08 (halving)", () => new Vector2020Limit()),
    perAttempt("RFC literal", () => new RfcLimit()),
    perAttempt("Netflix AIMD", () => new NetflixAimdLimit(bounds)),
    perAttempt("Netflix Vegas", (random) => new NetflixVegasLimit(random, bounds)),
    perAttempt(
      "Netflix Gradient, windowed",
      (random) => new WindowedLimit(new NetflixGradientLimit(random, bounds)),
    ),
    perAttempt(
      "Netflix Gradient2, windowed",
      () => new WindowedLimit(new NetflixGradient2Limit(bounds)),
    ),
    perAttempt("Envoy gradient", (random) => new EnvoyGradientLimit(random, bounds)),
    perAttempt("failsafe-go", () => new FailsafeGoLimit(bounds)),
    perAttempt("Palantir", () => new PalantirLimit(bounds)),
  ];
}

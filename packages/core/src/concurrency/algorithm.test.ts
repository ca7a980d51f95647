import { keepsLimitContract } from "../../test/limit-algorithm-contract.ts";
import { SeededRandom } from "../random.ts";
import { FixedLimit } from "./fixed.ts";
import { RfcLimit } from "./rfc.ts";
import { SluiceLimit } from "./sluice.ts";
import { VectorLimit } from "./vector.ts";

const limitMax = 120;
const initialLimit = 7;

keepsLimitContract("a fixed limit", {
  create: () => new FixedLimit(limitMax),
  limitMax,
  pauseMaxMs: 0,
});

keepsLimitContract("the limit of RFC 1858", {
  create: () => new RfcLimit({ limitMax, initialLimit }),
  limitMax,
  pauseMaxMs: 0,
});

keepsLimitContract("Vector's limit", {
  create: () => new VectorLimit({ limitMax, initialLimit }),
  limitMax,
  pauseMaxMs: 0,
});

keepsLimitContract("Sluice's limit", {
  create: () => new SluiceLimit(new SeededRandom(1), { limitMax, initialLimit }),
  limitMax,
  pauseMaxMs: 2000,
});

import { keepsLimitContract } from "../../test/limit-algorithm-contract.ts";
import { SeededRandom } from "../random.ts";
import { FixedLimit } from "./fixed/fixed-limit.ts";
import { RfcLimit } from "./rfc/rfc-limit.ts";
import { SluiceLimit } from "./sluice/sluice-limit.ts";
import { VectorLimit } from "./vector/vector-limit.ts";

const maxLimit = 40;
const initialLimit = 7;

keepsLimitContract("a fixed limit", {
  create: () => new FixedLimit(maxLimit),
  maxLimit,
  pauseMaxMs: 0,
});

keepsLimitContract("the limit of RFC 1858", {
  create: () => new RfcLimit({ maxLimit, initialLimit }),
  maxLimit,
  pauseMaxMs: 0,
});

keepsLimitContract("Vector's limit", {
  create: () => new VectorLimit({ maxLimit, initialLimit }),
  maxLimit,
  pauseMaxMs: 0,
});

keepsLimitContract("Sluice's limit", {
  create: () => new SluiceLimit({ random: new SeededRandom(1), maxLimit, initialLimit }),
  maxLimit,
  pauseMaxMs: 2000,
});

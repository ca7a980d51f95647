import fc from "fast-check";

/**
 * One seed for every run, so that a red test is red again. `SEED=random` draws a fresh one, to look
 * for what this one does not find; a property that fails prints the seed it failed with.
 */
const seed = process.env["SEED"];
if (seed !== "random") fc.configureGlobal({ seed: Number(seed ?? 1) });

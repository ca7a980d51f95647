/** 2^53: the largest count of tokens. Up to here a `number` holds every whole number exactly. */
export const COUNT_MAX = 9_007_199_254_740_992;

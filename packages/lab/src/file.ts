/** Files that people write, YAML or JSON: read with their lines, checked, every mistake with its place. */
export { parseFileDocument } from "./file/document.ts";
export type { FileDocument } from "./file/document.ts";
export { limits } from "./file/limits/limits.ts";
export type { LimitsBlock } from "./file/limits/limits.ts";
export { placeName, toProblem } from "./file/problem.ts";
export type { Problem } from "./file/problem.ts";
export type { Path } from "./file/path.ts";
export type { JsonSchema } from "./file/fields.ts";
export {
  ALTERNATIVES,
  byteSize,
  described,
  duration,
  durationText,
  either,
  field,
  flag,
  JSON_SCHEMA,
  lineOfText,
  list,
  map,
  oneOf,
  perSecond,
  real,
  record,
  text,
  whole,
} from "./file/fields.ts";
export { show } from "./file/show.ts";

import { map } from "@sluice/lab/file";
import * as v from "valibot";

/** One key of several, with its value. */
export interface Chosen {
  readonly kind: string;
  readonly options: Readonly<Record<string, unknown>>;
}

type Schemas = Readonly<Record<string, v.GenericSchema<unknown, unknown>>>;

/** A map with exactly one of these keys. */
export function choice(schemas: Schemas, example: string): v.GenericSchema<unknown, Chosen> {
  const kinds = Object.keys(schemas);
  const entries = Object.fromEntries(
    Object.entries(schemas).map(([kind, schema]) => [kind, v.optional(schema)]),
  );
  return v.pipe(
    map(entries),
    v.check(
      (given) => Object.keys(given).length === 1,
      ({ input }) => {
        const found = Object.keys(input);
        const what = found.length === 0 ? "is empty" : `has ${found.join(" and ")}`;
        return `${what}; expected one of ${kinds.join(", ")}, such as ${example}`;
      },
    ),
    v.metadata({ jsonSchema: { minProperties: 1, maxProperties: 1 } }),
    v.transform((given): Chosen => {
      const [[kind, options] = ["", {}]] = Object.entries(given);
      return { kind, options: options as Chosen["options"] };
    }),
  );
}

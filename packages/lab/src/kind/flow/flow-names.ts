import { ConfigError } from "@sluice/core";
import { formatTopicName, parseTopicName } from "@sluice/pulsar/sim";
import type * as v from "valibot";
import { field } from "../../file/fields.ts";

/** Of a producer or a connection. */
const ID = /^[A-Za-z0-9._-]{1,64}$/;

export function producerId(): v.GenericSchema<string> {
  return field(
    (value) => typeof value === "string" && ID.test(value),
    "an id of up to 64 letters, digits, dots, underscores and hyphens",
  );
}

/** Text or a number. */
export function connectionName(): v.GenericSchema<string | number> {
  return field(
    (value) => (typeof value === "string" || typeof value === "number") && ID.test(String(value)),
    "a name of up to 64 letters, digits, dots, underscores and hyphens, or a number",
  );
}

export function topicName(): v.GenericSchema<string> {
  return field(
    (value) => typeof value === "string" && fullName(value) !== undefined,
    "the name of a topic, such as orders, or shop/eu/orders in another namespace than public/default",
  );
}

/** The full name of a topic without partitions; undefined if the text is no such name. */
export function fullName(text: string): string | undefined {
  try {
    const name = parseTopicName(text);
    const isPlain = name.domain === "persistent" && name.partition === undefined;
    return isPlain ? formatTopicName(name) : undefined;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** A pattern without a tenant is for topics of public/default. */
export function fullPattern(pattern: string): string {
  return pattern.includes("/") ? pattern : `public/default/${pattern}`;
}

/** Arbitrary messages, made of the definitions that the codecs are made of. */
import fc from "fast-check";
import { bool, bytes, double, int32, int64, string, uint32, uint64 } from "../src/wire/message.ts";
import type { Field, FieldType, MessageType } from "../src/wire/message.ts";

type Presence = "required" | "optional" | "repeated";

const SCALARS: ReadonlyMap<unknown, fc.Arbitrary<unknown>> = new Map<
  unknown,
  fc.Arbitrary<unknown>
>([
  [bool, fc.boolean()],
  [int32, fc.oneof(fc.integer(), fc.constantFrom(-1, 0, 1, -(2 ** 31), 2 ** 31 - 1))],
  [uint32, fc.oneof(fc.nat(), fc.constantFrom(0, 127, 128, 2 ** 32 - 1))],
  [uint64, fc.oneof(wide(0n, 2n ** 64n - 1n), fc.nat(300).map(BigInt))],
  [int64, fc.oneof(wide(-(2n ** 63n), 2n ** 63n - 1n), fc.constantFrom(-1n, 0n))],
  [double, fc.double({ noNaN: true })],
  [string, fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: "grapheme", maxLength: 20 }))],
  [bytes, fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array))],
]);

/** Any message of this type that a peer of our age could send. */
export function arbitraryMessage<T>(type: MessageType<T>, depth: number = 0): fc.Arbitrary<T> {
  const fields = Object.entries(type.fields) as [string, Field<unknown, Presence>][];
  const model: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [key, field] of fields) {
    const value = valueOf(type, field.type, depth);
    if (value === undefined) continue;
    model[key] =
      field.presence === "repeated" ? fc.array(value, { minLength: 1, maxLength: 3 }) : value;
  }
  const requiredKeys = fields
    .filter(([, { presence }]) => presence === "required")
    .map(([key]) => key);
  return fc.record(model, { requiredKeys }) as unknown as fc.Arbitrary<T>;
}

/** A type that is not a scalar is a message; one that is not named there is its owner itself. */
function valueOf<T>(
  owner: MessageType<T>,
  type: FieldType<unknown>,
  depth: number,
): fc.Arbitrary<unknown> | undefined {
  const scalar = SCALARS.get(type);
  if (scalar !== undefined) return scalar;
  if (depth >= 2) return undefined;
  return arbitraryMessage("fields" in type ? (type as MessageType<unknown>) : owner, depth + 1);
}

function wide(min: bigint, max: bigint): fc.Arbitrary<bigint> {
  return fc.bigInt({ min, max });
}

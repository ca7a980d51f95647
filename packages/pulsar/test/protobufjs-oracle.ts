/** Our definitions, given to another library: it reads what we write, and we read what it writes. */
import protobuf from "protobufjs";
import { bool, bytes, double, int32, int64, string, uint32, uint64 } from "../src/wire/message.ts";
import type { Field, MessageType } from "../src/wire/message.ts";

const SCALARS: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [bool, "bool"],
  [int32, "int32"],
  [uint32, "uint32"],
  [uint64, "uint64"],
  [int64, "int64"],
  [string, "string"],
  [bytes, "bytes"],
  [double, "double"],
]);

type AnyField = Field<unknown, "required" | "optional" | "repeated">;

/** The same message as a type of protobufjs. */
export function oracleOf<T>(type: MessageType<T>): protobuf.Type {
  const root = new protobuf.Root();
  declare(root, type);
  root.resolveAll();
  return root.lookupType(type.name);
}

function declare<T>(root: protobuf.Root, type: MessageType<T>): string {
  if (root.get(type.name) !== null) return type.name;
  const declared = new protobuf.Type(type.name);
  root.add(declared);
  for (const [key, field] of Object.entries(type.fields) as [string, AnyField][]) {
    const scalar = SCALARS.get(field.type);
    const name =
      scalar ?? declare(root, "fields" in field.type ? (field.type as MessageType<unknown>) : type);
    declared.add(new protobuf.Field(key, field.number, name, field.presence));
  }
  return type.name;
}

/** A message as protobufjs takes it: numbers of 64 bits as texts. */
export function forOracle(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(forOracle);
  if (value instanceof Uint8Array || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .map(([key, field]) => [key, forOracle(field)]),
  );
}

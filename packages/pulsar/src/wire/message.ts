import { ProtocolError } from "./protocol-error.ts";
import { ProtoReader, WIRE_TYPE } from "./proto-reader.ts";
import { ProtoWriter } from "./proto-writer.ts";

/** Every decoded message may have unknown fields. */
export interface WithUnknown {
  /** Unknown fields with their tags, as received; encoded again behind the known ones. */
  readonly unknown?: readonly Uint8Array[] | undefined;
}

/** Reads and writes the values of one protobuf type. */
export interface FieldType<T> {
  readonly wireType: number;
  read(reader: ProtoReader): T;
  write(writer: ProtoWriter, value: T): void;
}

type AnyPresence = "required" | "optional" | "repeated";

export interface Field<T, Presence extends AnyPresence> {
  readonly number: number;
  readonly type: FieldType<T>;
  readonly presence: Presence;
}

/** A definition has one field per key of its interface, with the key's type and presence. */
export type Fields<T> = {
  readonly [K in Exclude<keyof T, "unknown">]-?: undefined extends T[K]
    ? NonNullable<T[K]> extends readonly (infer Item)[]
      ? Field<Item, "repeated">
      : Field<NonNullable<T[K]>, "optional">
    : Field<T[K], "required">;
};

/** The definition and codec of a message; also the type of a field. */
export interface MessageType<T> extends FieldType<T>, Codec<T> {
  readonly name: string;
  readonly fields: Fields<T>;
  decode(bytes: Uint8Array): T;
  encode(message: T): Buffer;
}

export function required<T>(number: number, type: FieldType<T>): Field<T, "required"> {
  return { number, type, presence: "required" };
}

export function optional<T>(number: number, type: FieldType<T>): Field<T, "optional"> {
  return { number, type, presence: "optional" };
}

export function repeated<T>(number: number, type: FieldType<T>): Field<T, "repeated"> {
  return { number, type, presence: "repeated" };
}

export const uint32: FieldType<number> = {
  wireType: WIRE_TYPE.varint,
  read: (reader) => reader.uint32(),
  write: (writer, value) => writer.uint32(value),
};

/** Also used for enums: values without a name pass through. */
export const int32: FieldType<number> = {
  wireType: WIRE_TYPE.varint,
  read: (reader) => reader.int32(),
  write: (writer, value) => writer.int32(value),
};

export const uint64: FieldType<bigint> = {
  wireType: WIRE_TYPE.varint,
  read: (reader) => reader.uint64(),
  write: (writer, value) => writer.uint64(value),
};

export const int64: FieldType<bigint> = {
  wireType: WIRE_TYPE.varint,
  read: (reader) => reader.int64(),
  write: (writer, value) => writer.uint64(value),
};

export const bool: FieldType<boolean> = {
  wireType: WIRE_TYPE.varint,
  read: (reader) => reader.bool(),
  write: (writer, value) => writer.bool(value),
};

export const double: FieldType<number> = {
  wireType: WIRE_TYPE.fixed64,
  read: (reader) => reader.double(),
  write: (writer, value) => writer.double(value),
};

export const string: FieldType<string> = {
  wireType: WIRE_TYPE.bytes,
  read: (reader) => reader.string(),
  write: (writer, value) => writer.string(value),
};

export const bytes: FieldType<Uint8Array> = {
  wireType: WIRE_TYPE.bytes,
  read: (reader) => reader.bytes(),
  write: (writer, value) => writer.bytes(value),
};

/** For a message that contains itself. */
export function lazy<T>(type: () => FieldType<T>): FieldType<T> {
  return {
    wireType: WIRE_TYPE.bytes,
    read: (reader) => type().read(reader),
    write: (writer, value) => type().write(writer, value),
  };
}

type AnyField = Field<unknown, AnyPresence>;

interface NamedField extends Omit<AnyField, "number"> {
  readonly key: string;
  readonly tag: number;
}

/**
 * Builds the codec of a message from its definition, by the rules of proto2: required fields must
 * be there, the last of repeated scalars wins, a field with another wire type is unknown, repeated
 * numbers may be packed.
 */
export function message<T extends WithUnknown>(name: string, fields: Fields<T>): MessageType<T> {
  const named = Object.entries(fields as Readonly<Record<string, AnyField>>).map(
    ([key, { number, type, presence }]): NamedField => ({
      key,
      tag: (number << 3) | type.wireType,
      presence,
      type,
    }),
  );
  const byTag = new Map(named.map((field) => [field.tag, field]));
  const packedByTag = new Map(
    named
      .filter((field) => field.presence === "repeated" && field.type.wireType === WIRE_TYPE.varint)
      .map((field) => [field.tag | WIRE_TYPE.bytes, field]),
  );
  const requiredKeys = named
    .filter((field) => field.presence === "required")
    .map((field) => field.key);

  const decodeFrom = (reader: ProtoReader): T => {
    const values: Record<string, unknown> = {};
    while (!reader.isAtEnd) {
      const start = reader.offset;
      const tag = reader.tag();
      const field = byTag.get(tag);
      const packed = field === undefined ? packedByTag.get(tag) : undefined;
      if (field !== undefined) {
        const value = field.type.read(reader);
        if (field.presence === "repeated") listIn(values, field.key).push(value);
        else values[field.key] = value;
      } else if (packed !== undefined) {
        const list = listIn(values, packed.key);
        for (const part = reader.message(); !part.isAtEnd;) list.push(packed.type.read(part));
      } else {
        reader.skip(tag);
        listIn(values, "unknown").push(reader.since(start));
      }
    }
    for (const key of requiredKeys)
      if (values[key] === undefined) throw new ProtocolError(`${name} has no ${key}`);
    return values as T;
  };

  const encodeInto = (writer: ProtoWriter, value: T): void => {
    const values = value as Readonly<Record<string, unknown>>;
    for (const { key, tag, presence, type } of named) {
      const field = values[key];
      if (field === undefined) continue;
      if (presence !== "repeated") {
        writer.uint32(tag);
        type.write(writer, field);
        continue;
      }
      for (const item of field as readonly unknown[]) {
        writer.uint32(tag);
        type.write(writer, item);
      }
    }
    for (const raw of value.unknown ?? []) writer.raw(raw);
  };

  return typeWith(name, fields, { decodeFrom, encodeInto });
}

/** Reads and writes the fields of a message without a length prefix. */
export interface Codec<T> {
  /** Reads from the start of a message to the end of the reader. */
  decodeFrom(reader: ProtoReader): T;
  encodeInto(writer: ProtoWriter, message: T): void;
}

/**
 * A message with a hand-written codec, for those that come with every SEND or MESSAGE. Rare fields
 * may be left to `defined`, and the result must equal that of `defined`; a property test checks
 * this.
 */
export function writtenOut<T>(
  type: MessageType<T>,
  codec: (defined: Codec<T>) => Codec<T>,
): MessageType<T> {
  return typeWith(type.name, type.fields, codec(type));
}

function typeWith<T>(name: string, fields: Fields<T>, codec: Codec<T>): MessageType<T> {
  return {
    name,
    fields,
    wireType: WIRE_TYPE.bytes,
    decodeFrom: (reader) => codec.decodeFrom(reader),
    encodeInto: (writer, value) => codec.encodeInto(writer, value),
    decode: (encoded) => codec.decodeFrom(new ProtoReader(bufferOf(encoded))),
    encode: (value) => {
      const writer = new ProtoWriter();
      codec.encodeInto(writer, value);
      return writer.finish();
    },
    read: (reader) => {
      const end = reader.enter();
      const value = codec.decodeFrom(reader);
      reader.leave(end);
      return value;
    },
    write: (writer, value) => {
      const opened = writer.open();
      codec.encodeInto(writer, value);
      writer.close(opened);
    },
  };
}

/** The same bytes as a `Buffer`, which reads numbers and text faster. */
export function bufferOf(view: Uint8Array): Buffer {
  return Buffer.isBuffer(view) ? view : Buffer.from(view.buffer, view.byteOffset, view.byteLength);
}

function listIn(values: Record<string, unknown>, key: string): unknown[] {
  const list = values[key];
  if (list !== undefined) return list as unknown[];
  const created: unknown[] = [];
  values[key] = created;
  return created;
}

/** How a source reads the bytes of a message. */
export type Format = "bytes" | "text" | "json";

/** Throws a SyntaxError for bytes that are no JSON. */
export function decode(bytes: Buffer, format: Format): unknown {
  if (format === "bytes") return bytes;
  const text = bytes.toString("utf8");
  return format === "text" ? text : JSON.parse(text);
}

/** The bytes that a sink sends: of a Buffer as it is, of a string in UTF-8, of anything else its JSON. */
export function encode(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length);
  if (typeof value === "string") return Buffer.from(value, "utf8");
  // Of undefined and functions there is no JSON, which the type of stringify does not tell.
  const text = JSON.stringify(value) as string | undefined;
  return Buffer.from(text ?? "null", "utf8");
}

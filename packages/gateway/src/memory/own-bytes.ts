/**
 * Bytes that are kept for longer than the event that brought them. A frame is a view of the chunk that came
 * from the socket. Where the chunk is more than twice as large the bytes are copied, so that they do not
 * keep the rest of the chunk; what is kept is then `buffer.byteLength` in both cases.
 */
export function ownBytes(view: Buffer): Buffer {
  if (view.buffer.byteLength <= 2 * view.length) return view;
  const copy = Buffer.allocUnsafeSlow(view.length);
  view.copy(copy);
  return copy;
}

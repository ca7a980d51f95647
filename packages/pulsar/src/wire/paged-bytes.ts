/** Of ES2024. Node 20 has it; `transfer`, which the same library types declare, it has not. */
interface ResizableBuffer extends ArrayBuffer {
  resize(bytes: number): void;
}

const Resizable = ArrayBuffer as unknown as new (
  bytes: number,
  options: { readonly maxByteLength: number },
) => ResizableBuffer;

/**
 * Bytes that grow in place: `bytesMax` is address space, pages are taken as bytes come, and `drop` gives them back to
 * the system at once. Other buffers come from `malloc` and are freed by a garbage collection. After a buffer of n
 * bytes was freed, glibc takes later ones up to n (32 MiB at most) from its heap, whose gaps it keeps: with 5 MB
 * frames in pieces that was 80 of 310 MiB.
 */
export class PagedBytes {
  readonly #buffer: ResizableBuffer;
  /** As long as the buffer is now. */
  readonly bytes: Uint8Array;

  constructor(bytesMax: number) {
    this.#buffer = new Resizable(0, { maxByteLength: bytesMax });
    this.bytes = new Uint8Array(this.#buffer);
  }

  grow(bytes: number): void {
    this.#buffer.resize(bytes);
  }

  /** The bytes in memory of their own. The pages are given back. */
  take(): Buffer {
    const copy = Buffer.allocUnsafeSlow(this.bytes.length);
    copy.set(this.bytes);
    this.drop();
    return copy;
  }

  drop(): void {
    this.#buffer.resize(0);
  }
}

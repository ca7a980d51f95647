// The way of every driver to hear and answer: the command comes as JSON on standard input, answers
// go out as JSON lines. interop/drivers/driver.ts says what both are.
import { createHash } from "node:crypto";
import { text } from "node:stream/consumers";

/** Runs the command that this process was started for. */
export async function drive(commands) {
  const request = JSON.parse(await text(process.stdin));
  try {
    await commands[request.command](process.argv[2], request);
    process.exitCode = 0;
  } catch (error) {
    say("error", { message: String(error) });
    process.exitCode = 1;
  }
  // Clients may leave timers behind; what was said must still be read.
  process.stdout.write("", () => process.exit());
}

export function say(event, fields = {}) {
  process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
}

export function bodyOf(index, { keys = 1, sizeBytes }) {
  const header = { key: `k${index % keys}`, sequence: Math.floor(index / keys), index };
  return Buffer.from(JSON.stringify(header).padEnd(sizeBytes));
}

/** Counts what arrives. The digest is over the bodies in the order of their index, each once. */
export class Tally {
  received = 0;
  #duplicates = 0;
  #orderBroken = 0;
  #redelivered = 0;
  #bodies = new Map();
  #last = new Map();

  /** Whether the message comes for the first time. */
  add(body, redeliveryCount) {
    const { key, sequence, index } = JSON.parse(body);
    this.received++;
    if (redeliveryCount > 0) this.#redelivered++;
    if (this.#bodies.has(index)) {
      this.#duplicates++;
      return false;
    }
    this.#bodies.set(index, body);
    if (sequence <= (this.#last.get(key) ?? -1)) this.#orderBroken++;
    this.#last.set(key, sequence);
    return true;
  }

  outcome() {
    const digest = createHash("sha256");
    const indexes = [...this.#bodies.keys()].toSorted((a, b) => a - b);
    for (const index of indexes) digest.update(this.#bodies.get(index));
    return {
      received: this.received,
      distinct: this.#bodies.size,
      digest: digest.digest("hex"),
      perKeyOrderBroken: this.#orderBroken,
      duplicates: this.#duplicates,
      redelivered: this.#redelivered,
    };
  }
}

/**
 * The thread of `mapThreads`: loads the map module and maps what it is sent. Plain JavaScript, because a thread
 * cannot start from TypeScript on every Node that is supported.
 *
 * In: { messages: [{ place, message }] }. Out: { ready } or { failed } once; then { place, outputs } or
 * { place, error, isRetriable } for each message, as soon as it is known.
 */
/* oxlint-disable unicorn/require-post-message-target-origin */
import { parentPort, workerData } from "node:worker_threads";

const { url, settings } = workerData;
const context = { settings, signal: new AbortController().signal };

try {
  const exported = await import(url);
  const { batch, default: map } = exported;
  if (typeof batch === "function") parentPort.on("message", (sent) => void mapBatch(batch, sent));
  else if (typeof map === "function") parentPort.on("message", (sent) => mapEach(map, sent));
  else throw new TypeError(`it exports ${Object.keys(exported).join(", ") || "nothing"}`);
  parentPort.postMessage({ ready: true });
} catch (error) {
  parentPort.postMessage({ failed: textOf(error) });
}

function mapEach(map, { messages }) {
  for (const { place, message } of messages) {
    try {
      const answer = map(withBuffer(message), context);
      if (typeof answer?.then === "function")
        answer.then(
          (later) => answered(place, later),
          (error) => failed(place, error, true),
        );
      else answered(place, answer);
    } catch (error) {
      failed(place, error, false);
    }
  }
}

async function mapBatch(batch, { messages }) {
  try {
    const answers = await batch(
      messages.map(({ message }) => withBuffer(message)),
      context,
    );
    if (!Array.isArray(answers) || answers.length !== messages.length)
      throw Object.assign(
        new TypeError(
          `batch answered ${Array.isArray(answers) ? answers.length : typeof answers} results for ${messages.length} messages; it must answer one for each`,
        ),
        { isRetriable: false },
      );
    for (const [index, { place }] of messages.entries()) answered(place, answers[index]);
  } catch (error) {
    for (const { place } of messages) failed(place, error, true);
  }
}

function answered(place, answer) {
  const outputs = answer === undefined || answer === null ? [] : [answer].flat();
  try {
    parentPort.postMessage({ place, outputs });
  } catch (error) {
    // A function, a promise: no thread can hand it over.
    failed(place, error, false);
  }
}

function failed(place, thrown, isRetriable) {
  parentPort.postMessage({ place, error: textOf(thrown), isRetriable, ...detailsOf(thrown) });
}

/** The stack of an error, and `isRetriable` of its own. */
function detailsOf(thrown) {
  try {
    const { stack, isRetriable } = thrown ?? {};
    return {
      ...(typeof stack === "string" && { stack }),
      ...(typeof isRetriable === "boolean" && { isRetriable }),
    };
  } catch {
    return {};
  }
}

/** Bytes are sent as a Uint8Array. */
function withBuffer(message) {
  const { value } = message;
  if (!(value instanceof Uint8Array)) return message;
  return { ...message, value: Buffer.from(value.buffer, value.byteOffset, value.byteLength) };
}

/** As `asError` of the pipeline: to read what was thrown may throw an error itself. */
function textOf(thrown) {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "what was thrown cannot be shown: to read it throws an error itself";
  }
}

// Events of a gateway and its pipelines, as `sluice run --json` writes them, in one line each for `npm start`.

/**
 * Lines of the same kind say the same of the same subject; `isChange` is a person's change of a limit. Undefined for a line
 * that only counts events left out of the log: it has no facts, and `npm start` counts what repeats itself.
 */
export function lineOfEvent(json) {
  let event;
  try {
    event = JSON.parse(json);
  } catch {
    return { kind: json, text: json, isChange: false };
  }
  if (event.suppressed !== undefined) return undefined;
  const { glyph, word, who, what } = parts(event);
  const text = `${glyph} ${word.padEnd(10)} ${who.padEnd(28)} ${what}`;
  const isChange = event.event === "limit-changed";
  return { kind: `${word} ${who || what}`, text: text.trimEnd(), isChange };
}

function parts(event) {
  const topic = shortName(event.topic ?? "");
  const label = `${topic} ${event.reason ?? ""}`;
  switch (event.event) {
    case "publish-throttled":
      return { glyph: "▥", word: "throttled", who: label, what: throttled(event) };
    case "publish-resumed":
      return {
        glyph: "≈",
        word: "flowing",
        who: label,
        what: `no producer waits any more, after ${duration(event.afterMs)}`,
      };
    case "producer-told":
      return { glyph: "▥", word: "told", who: event.producer, what: told(event) };
    case "socket-paused":
      return {
        glyph: "▥",
        word: "paused",
        who: event.address,
        what: `not read because of ${topic || event.reason}`,
      };
    case "socket-resumed":
      return {
        glyph: "≈",
        word: "reading",
        who: event.address,
        what: `read again after ${duration(event.afterMs)}`,
      };
    case "limit-changed":
      return {
        glyph: "◆",
        word: "changed",
        who: shortName(event.target),
        what: event.msg.replace(/^.*was changed /, ""),
      };
    case "pipeline-started":
      return { glyph: "≈", word: "flowing", who: event.pipeline, what: "the pipeline has started" };
    case "vertex-throttled":
      return { glyph: "▥", word: "throttled", who: vertexLabel(event), what: detail(event) };
    case "vertex-request-limited":
      return { glyph: "▥", word: "throttled", who: vertexLabel(event), what: limited(event) };
    case "vertex-flowing":
      return { glyph: "≈", word: "flowing", who: vertexLabel(event), what: detail(event) };
    case "vertex-cut":
      return { glyph: "▼", word: "cut", who: vertexLabel(event), what: detail(event) };
    case "vertex-paused":
      return { glyph: "▥", word: "paused", who: vertexLabel(event), what: detail(event) };
    case "vertex-message-failed":
      return { glyph: "↻", word: "again", who: vertexLabel(event), what: failed(event) };
    default:
      return { glyph: "·", word: event.event ?? "", who: "", what: event.msg ?? "" };
  }
}

/** The vertex without its pipeline, of which there is one, and the reason. */
function vertexLabel({ subject = "", reason = "" }) {
  return `${subject.split("/").at(-1)} ${reason}`;
}

/** The sentence of an event without the name of its vertex, which the line has already. */
function detail({ subject, msg = "" }) {
  return msg
    .replace(`${subject}: `, "")
    .replace(`${subject} `, "")
    .replace(/^waits \([\w-]+\): /, "");
}

function failed(event) {
  const { others = 0, msg = "" } = event;
  const answer = / was answered (.*); it is tried again$/.exec(msg)?.[1];
  if (answer === undefined) return detail(event);
  return others === 0
    ? `a message was answered ${answer}; it is sent again`
    : `${others + 1} messages were answered ${answer}; they are sent again`;
}

function limited({ limited: count, waiting }) {
  const requests = count === 1 ? "1 request has" : `${count} requests have`;
  return `${requests} waited, ${waiting} ${waiting === 1 ? "waits" : "wait"} now`;
}

function throttled({ becauseOf, turn, heldFrames, producers }) {
  const held = heldFrames > 0 ? "; frames held" : "";
  if (becauseOf === undefined)
    return `${producers} ${producers === 1 ? "producer waits" : "producers wait"}${held}`;
  const { producer, asked } = becauseOf;
  const much =
    turn > 0 && asked > turn ? `${(asked / turn).toFixed(1)} × its even turn` : `${asked}/s`;
  return `${producer} asks for ${much}${held}`;
}

function told({ pauseMs, receiptAfterMs }) {
  const receipt =
    receiptAfterMs === undefined ? "" : `; its receipt came after ${duration(receiptAfterMs)}`;
  return `wait ${duration(pauseMs)}${receipt}`;
}

function shortName(name) {
  return name.replace("persistent://", "").replace("public/default/", "").replace("public/", "");
}

function duration(ms) {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

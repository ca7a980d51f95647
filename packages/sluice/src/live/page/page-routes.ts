import type { AdminRequest, Answer, Route } from "@sluice/gateway/admin";
import type { PageFile } from "./page-file.ts";

/** Of every answer of the page: scripts, styles and requests of its own origin, and nothing else. */
const SECURITY: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "worker-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

/** Asked for again each time, and answered with 304 if it is the same. */
const REVALIDATED = "no-cache";

/** The name of such a file changes with its content. */
const HASHED = "public, max-age=31536000, immutable";

/** Paths of the page besides "/"; a topic's name has at most four segments. */
const PAGES = [
  "/topics",
  "/topics/{first}",
  "/topics/{first}/{second}",
  "/topics/{first}/{second}/{third}",
  "/topics/{first}/{second}/{third}/{fourth}",
  "/fleet",
  "/lab",
];

const INDEX = "index.html";

const NOT_BUILT = `The dashboard is not built in this checkout. Run:

  npm run build

and start sluice again. The API works without it: /api/state, /api/why, /api/limits, /metrics.
`;

/** The dashboard: every file by its name, and its index for every path of a page. Its files are no secret. */
export function pageRoutes(files: readonly PageFile[]): readonly Route[] {
  const index = files.find(({ name }) => name === INDEX);
  const serveIndex = (request: AdminRequest): Answer =>
    index === undefined ? notBuilt() : answerOf(index, request);
  return [
    ...["/", ...PAGES].map((path) => pageRoute(path, serveIndex)),
    ...files
      .filter(({ name }) => name !== INDEX)
      .map((file) => pageRoute(`/${file.name}`, (request) => answerOf(file, request))),
  ];
}

function pageRoute(path: string, handle: Route["handle"]): Route {
  return { method: "GET", path, access: "all", handle };
}

function answerOf({ name, type, body, gzip, etag }: PageFile, request: AdminRequest): Answer {
  const headers = {
    ...SECURITY,
    etag,
    vary: "accept-encoding",
    "cache-control": name.startsWith("assets/") ? HASHED : REVALIDATED,
  };
  if (isKnown(request.header("if-none-match"), etag)) return { status: 304, headers };
  const isGzip = gzip !== undefined && takesGzip(request.header("accept-encoding"));
  return {
    status: 200,
    headers: { ...headers, "content-type": type, ...(isGzip && { "content-encoding": "gzip" }) },
    body: isGzip ? gzip : body,
  };
}

function notBuilt(): Answer {
  const headers = { ...SECURITY, "content-type": "text/plain; charset=utf-8" };
  return { status: 503, headers: { ...headers, "cache-control": "no-store" }, body: NOT_BUILT };
}

/** Whether a browser has this version already. A proxy may have made the tag weak. */
function isKnown(given: string | undefined, etag: string): boolean {
  if (given === undefined) return false;
  const tags = given.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || tags.includes("*");
}

/** `gzip;q=0` says that it is not taken. */
function takesGzip(accepted = ""): boolean {
  return accepted
    .split(",")
    .map((one) => one.trim().split(/\s*;\s*/))
    .some(
      ([coding, quality = "q=1"]) =>
        (coding === "gzip" || coding === "*") && Number(quality.replace(/^q=/i, "")) > 0,
    );
}

import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { OtlpAnswer, SendOtlp } from "./otlp-exporter.ts";
import type { OtlpSettings } from "./otlp-settings.ts";

const compressed = promisify(gzip);

/** Bytes of an answer that are read; a receiver says what it rejected in fewer. */
const ANSWER_BYTES_MAX = 64 * 1024;

/** Sends exports with `fetch`. A redirect is not followed: the headers may hold a key. */
export function otlpRequest({ url, headers, isCompressed }: OtlpSettings): SendOtlp {
  return async (body, signal) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        ...(isCompressed && { "content-encoding": "gzip" }),
      },
      body: isCompressed ? await compressed(body) : body,
      redirect: "manual",
      signal,
    });
    return { status: response.status, body: await boundedText(response) };
  };
}

async function boundedText(response: Response): Promise<OtlpAnswer["body"]> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES_MAX) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

import type { StoredSchema } from "../../../schema/topic-schemas.ts";
import { json } from "../../http/answer.ts";
import { HttpError } from "../../http/http-error.ts";
import type { AdminRequest } from "../../http/request.ts";
import type { Route } from "../../http/router.ts";
import type { BrokerAdmin } from "../broker-admin.ts";
import { visibleTopicOf } from "../named.ts";
import { schemaFrom, schemaJson, versionBytes, versionOf } from "./schema-json.ts";

const PATH = "/admin/v2/schemas/{tenant}/{namespace}/{topic}";

/** Schemas of topics. */
export function schemaRoutes({ schemas }: BrokerAdmin): readonly Route[] {
  return [
    {
      method: "GET",
      path: `${PATH}/schema`,
      access: "client",
      handle: async (request) => json(schemaJson(found(await schemas.get(nameOf(request))))),
    },
    {
      method: "GET",
      path: `${PATH}/schema/{version}`,
      access: "client",
      handle: async (request) => {
        const version = versionBytes(request.wholeParam("version", 0, Number.MAX_SAFE_INTEGER));
        return json(schemaJson(found(await schemas.get(nameOf(request), version))));
      },
    },
    {
      method: "GET",
      path: `${PATH}/schemas`,
      handle: async (request) => {
        const topic = nameOf(request);
        const newest = versionOf(found(await schemas.get(topic)).version);
        const all: object[] = [];
        for (let version = 0; version <= newest; version++) {
          const stored = await schemas.get(topic, versionBytes(version));
          if (stored !== undefined) all.push(schemaJson(stored));
        }
        return json({ getSchemaResponses: all });
      },
    },
    {
      method: "POST",
      path: `${PATH}/schema`,
      handle: async (request) => {
        const version = await schemas.put(nameOf(request), schemaFrom(request.json()));
        return json({ version: { version: versionOf(version) } });
      },
    },
    {
      method: "DELETE",
      path: `${PATH}/schema`,
      handle: async (request) => {
        const topic = nameOf(request);
        const { version } = found(await schemas.get(topic));
        await schemas.delete(topic);
        return json({ version: versionOf(version) });
      },
    },
    {
      method: "POST",
      path: `${PATH}/compatibility`,
      handle: () => {
        throw new HttpError(405, "compatibility is not supported: schemas are not compared");
      },
    },
  ];
}

/** Schemas have no domain in their path; a topic of either domain has them by its persistent name. */
function nameOf(request: AdminRequest): string {
  return visibleTopicOf("persistent", request).full;
}

function found(stored: StoredSchema | undefined): StoredSchema {
  if (stored === undefined) throw new HttpError(404, "Schema not found");
  return stored;
}

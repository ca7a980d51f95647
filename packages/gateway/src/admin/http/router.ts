import { InvariantError } from "@sluice/core";
import type { Answer } from "./answer.ts";
import type { AdminRequest } from "./request.ts";
import { segmentsOf } from "./path.ts";

export type Method = "GET" | "PUT" | "POST" | "DELETE";

export type Handler = (request: AdminRequest) => Answer | Promise<Answer>;

/**
 * Who may call: "all" needs no token; "client" is any authenticated role, for what a Pulsar client
 * asks before it connects; "admin" is a role that may administer; "read" is the same, unless reading
 * needs no token (`readWithoutToken`). What "read" answers has no contents of messages.
 */
export type RouteAccess = "all" | "client" | "read" | "admin";

export interface Route {
  readonly method: Method;
  /** Segments in braces are parameters: "/admin/v2/namespaces/{tenant}". */
  readonly path: string;
  readonly access?: RouteAccess;
  readonly handle: Handler;
}

/** A route that fits a request, with the parameters as they stand in the path, still encoded. */
interface Match {
  readonly route: Route;
  readonly params: ReadonlyMap<string, string>;
}

/** No route fits: the path is not known, or only with other methods. */
interface Mismatch {
  readonly allowed: readonly Method[];
}

interface PathNode {
  readonly fixed: Map<string, PathNode>;
  param: { readonly name: string; readonly node: PathNode } | undefined;
  readonly routes: Map<Method, Route>;
}

const PARAMETER = /^\{(\w+)\}$/;

/**
 * Finds the handler of a path. A fixed segment is tried before a parameter, and the parameter if
 * that leads nowhere: a topic may be called "partitioned".
 */
export class Router {
  readonly #root = newNode();
  readonly #pages: string[] = [];

  /** Paths to GET without parameters, besides Pulsar's: what a person can try. */
  get pages(): readonly string[] {
    return this.#pages;
  }

  add(routes: Iterable<Route>): void {
    for (const route of routes) this.#addOne(route);
  }

  find(method: Method, path: string): Match | Mismatch {
    const allowed = new Set<Method>();
    const match = search(this.#root, { segments: segmentsOf(path), method, allowed });
    return match ?? { allowed: [...allowed] };
  }

  #addOne(route: Route): void {
    let node = this.#root;
    for (const segment of segmentsOf(route.path)) node = childOf(node, segment);
    node.routes.set(route.method, route);
    if (route.method === "GET" && !/[{]|^\/(?:admin|assets)\//.test(route.path))
      this.#pages.push(route.path);
  }
}

/** Routes whose GETs may be open to callers without a token. */
export function readable(routes: readonly Route[]): readonly Route[] {
  return routes.map((route) =>
    route.method === "GET" && route.access === undefined ? { ...route, access: "read" } : route,
  );
}

interface Search {
  readonly segments: readonly string[];
  readonly method: Method;
  /** Filled with the methods that the path has. */
  readonly allowed: Set<Method>;
}

function search(
  node: PathNode,
  wanted: Search,
  depth = 0,
  params: ReadonlyMap<string, string> = new Map(),
): Match | undefined {
  const segment = wanted.segments[depth];
  if (segment === undefined) {
    for (const method of node.routes.keys()) wanted.allowed.add(method);
    const route = node.routes.get(wanted.method);
    return route && { route, params };
  }
  const fixed = node.fixed.get(segment);
  const match = fixed && search(fixed, wanted, depth + 1, params);
  if (match !== undefined || node.param === undefined) return match;
  const { name, node: next } = node.param;
  return search(next, wanted, depth + 1, new Map([...params, [name, segment]]));
}

function childOf(node: PathNode, segment: string): PathNode {
  const name = PARAMETER.exec(segment)?.[1];
  if (name !== undefined) {
    node.param ??= { name, node: newNode() };
    if (node.param.name !== name)
      throw new InvariantError(`{${name}} is called {${node.param.name}} in another route`);
    return node.param.node;
  }
  const child = node.fixed.get(segment) ?? newNode();
  node.fixed.set(segment, child);
  return child;
}

function newNode(): PathNode {
  return { fixed: new Map(), param: undefined, routes: new Map() };
}

import { ConnectorError } from "./connector-error.ts";

/** Loads a client library that is installed only where its connector is used; `packages` are for `npm install`. */
export async function loadLibrary<T>(
  what: string,
  packages: string,
  importing: () => Promise<T>,
): Promise<T> {
  try {
    return await importing();
  } catch (error) {
    throw new ConnectorError(
      `${what} cannot load its client library; run: npm install ${packages}`,
      { canHeal: false, cause: error },
    );
  }
}

import { ConnectionError } from "../error/connection-error.ts";

/** How a client proves who it is. */
export interface Authentication {
  readonly methodName: string;
  /** Asked anew for each connection, and whenever a broker wants fresh proof. */
  data(): Promise<Uint8Array>;
}

/** A token, or where to get the one that is good now. */
export type Token = string | (() => string | Promise<string>);

/** The token stays in here: nothing prints it, not even a look at the object. */
export function authenticationOf(token: Token | undefined): Authentication {
  if (token === undefined)
    return { methodName: "none", data: () => Promise.resolve(new Uint8Array()) };
  const supply = typeof token === "string" ? () => token : token;
  return {
    methodName: "token",
    data: async () => {
      const given = await asked(supply);
      // Not shown, even if it is wrong.
      if (typeof given !== "string") throw new ConnectionError("the token function gave no string");
      return Buffer.from(given, "utf8");
    },
  };
}

async function asked(supply: () => unknown): Promise<unknown> {
  try {
    return await supply();
  } catch (cause) {
    throw new ConnectionError("the token could not be had", { cause });
  }
}

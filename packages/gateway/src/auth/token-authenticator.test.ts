import { ConfigError } from "@sluice/core";
import { constants, createHmac, generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { AuthenticationError } from "./authentication-error.ts";
import { createTokenAuthenticator } from "./token-authenticator.ts";
import type { TokenAuthenticatorOptions } from "./token-authenticator.ts";

const NOW_SECONDS = 1_700_000_000;
const wallClock = { now: () => NOW_SECONDS * 1000 };
const secretKey = Buffer.from("canary-canary-canary-canary-0032");
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const rsaPem = rsa.publicKey.export({ format: "pem", type: "spki" }).toString();

const CLAIMS = { sub: "orders-service", exp: NOW_SECONDS + 3600 };

describe("a good token", () => {
  test("names its role and its end, to which the leeway is added", async () => {
    const identity = await withSecret().authenticate(hmacToken(CLAIMS));
    expect(identity).toEqual({
      role: "orders-service",
      expiresAtMs: (NOW_SECONDS + 3600 + 60) * 1000,
    });
  });

  test("is taken up to the leeway beyond its end, and from the leeway before its start", async () => {
    const authenticator = withSecret({ leewayMs: 5000 });
    const taken = { sub: "a", exp: NOW_SECONDS - 4, nbf: NOW_SECONDS + 5 };
    await expect(authenticator.authenticate(hmacToken(taken))).resolves.toMatchObject({
      role: "a",
    });
    for (const wrong of [{ exp: NOW_SECONDS - 5 }, { nbf: NOW_SECONDS + 6 }])
      await expectRefused(authenticator.authenticate(hmacToken({ ...taken, ...wrong })));
  });

  test("may be without an end where that is allowed", async () => {
    const authenticator = withSecret({ allowNoExpiry: true });
    const identity = await authenticator.authenticate(hmacToken({ sub: "admin" }));
    expect(identity).toEqual({ role: "admin", expiresAtMs: undefined });
    // But an end that it has is kept.
    await expectRefused(authenticator.authenticate(hmacToken({ sub: "admin", exp: 1 })));
  });

  test("may be signed by any algorithm that its key is fit for", async () => {
    const long = Buffer.alloc(64, 7);
    const authenticator = createTokenAuthenticator({ wallClock, secretKey: long });
    for (const [alg, hash] of [
      ["HS256", "sha256"],
      ["HS384", "sha384"],
      ["HS512", "sha512"],
    ] as const)
      await authenticator.authenticate(hmacToken(CLAIMS, { alg }, { hash, secret: long }));
  });

  test.each([
    ["RSA with PKCS 1", "RS256", rsa, { padding: constants.RSA_PKCS1_PADDING }],
    ["RSA with PSS", "PS256", rsa, { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }],
    [
      "P-256",
      "ES256",
      generateKeyPairSync("ec", { namedCurve: "P-256" }),
      { dsaEncoding: "ieee-p1363" as const },
    ],
  ])(
    "may be signed by %s, of which the broker knows the public half",
    async (_, alg, pair, how) => {
      const token = signedToken(alg, { key: pair.privateKey, ...how });
      const pem = pair.publicKey.export({ format: "pem", type: "spki" }).toString();
      const der = pair.publicKey.export({ format: "der", type: "spki" });
      for (const publicKey of [pem, der]) {
        const identity = await createTokenAuthenticator({ wallClock, publicKey }).authenticate(
          token,
        );
        expect(identity.role).toBe("orders-service");
      }
    },
  );

  test("has at most 16384 characters", async () => {
    const longest = tokenOfLength(16_384);
    expect(longest.length).toBeGreaterThan(16_380);
    expect(longest.length).toBeLessThanOrEqual(16_384);
    await expect(withSecret().authenticate(longest)).resolves.toBeDefined();
    await expectRefused(withSecret().authenticate(tokenOfLength(16_388)));
  });

  test("may be signed by Ed25519", async () => {
    const pair = generateKeyPairSync("ed25519");
    const input = `${part({ alg: "EdDSA" })}.${part(CLAIMS)}`;
    const token = `${input}.${sign(null, Buffer.from(input), pair.privateKey).toString("base64url")}`;
    const publicKey = pair.publicKey.export({ format: "der", type: "spki" });
    await createTokenAuthenticator({ wallClock, publicKey }).authenticate(token);
  });

  test("names no other key: hints of where to look for one are not followed", async () => {
    const hints = {
      alg: "HS256",
      kid: "../../dev/null",
      jku: "http://127.0.0.1:1/keys",
      x5u: "file:///",
    };
    await expect(withSecret().authenticate(hmacToken(CLAIMS, hints))).resolves.toBeDefined();
  });
});

const good = hmacToken(CLAIMS);
const [header = "", payload = "", signature = ""] = good.split(".");
const unsigned = (alg: string): string => `${part({ alg, typ: "JWT" })}.${part(CLAIMS)}.`;

describe("a bad token is refused", () => {
  test.each([
    ["without a signature, by alg none", unsigned("none")],
    ["by alg None", unsigned("None")],
    ["by alg nOnE", unsigned("nOnE")],
    [
      "by alg none with the signature of another",
      `${part({ alg: "none" })}.${payload}.${signature}`,
    ],
    ["without alg", hmacToken(CLAIMS, {})],
    ["with an alg that is a number", hmacToken(CLAIMS, { alg: 256 })],
    ["with alg in other letters", hmacToken(CLAIMS, { alg: "hs256" })],
    ["by a hash too long for the secret", hmacToken(CLAIMS, { alg: "HS512" }, { hash: "sha512" })],
    ["by an algorithm of another kind of key", signedToken("RS256", { key: rsa.privateKey })],
    ["by another secret", hmacToken(CLAIMS, { alg: "HS256" }, { secret: Buffer.alloc(32, 1) })],
    ["with a signature cut short", good.slice(0, -3)],
    ["with a signature of one byte", `${header}.${payload}.AA`],
    ["with a changed payload", `${header}.${part({ ...CLAIMS, sub: "admin" })}.${signature}`],
    ["with a changed header", `${part({ alg: "HS256", kid: "1" })}.${payload}.${signature}`],
    ["expired", hmacToken({ ...CLAIMS, exp: NOW_SECONDS - 60 })],
    ["not valid yet", hmacToken({ ...CLAIMS, nbf: NOW_SECONDS + 61 })],
    ["without an end", hmacToken({ sub: "a" })],
    ["with an end that is text", hmacToken({ ...CLAIMS, exp: "4102444800" })],
    ["with an end that is null", hmacToken({ ...CLAIMS, exp: null })],
    ["with an end beyond all numbers", hmacText('{"sub":"a","exp":1e400}')],
    ["with an end in milliseconds of a far future", hmacToken({ ...CLAIMS, exp: 1e18 })],
    ["with a start that is text", hmacToken({ ...CLAIMS, nbf: "0" })],
    ["without a role", hmacToken({ exp: CLAIMS.exp })],
    ["with a role that is a number", hmacToken({ ...CLAIMS, sub: 7 })],
    ["with an empty role", hmacToken({ ...CLAIMS, sub: "" })],
    ["with a role of spaces", hmacToken({ ...CLAIMS, sub: "  " })],
    ["with a role of many lines", hmacToken({ ...CLAIMS, sub: "a\nroot logged in" })],
    ["with a role too long", hmacToken({ ...CLAIMS, sub: "a".repeat(257) })],
    ["with a role only inherited", hmacText('{"__proto__":{"sub":"admin"},"exp":1800000000}')],
    ["with a payload that is not JSON", hmacText("sub=admin")],
    [
      "with a payload that is not UTF-8",
      hmacText(Buffer.from('{"sub":"ÿ","exp":1800000000}', "latin1")),
    ],
    ["with a payload that is a list", hmacText('["admin"]')],
    ["with a payload that is null", hmacText("null")],
    [
      "with an extension that must be understood",
      hmacToken(CLAIMS, { alg: "HS256", crit: ["exp"], exp: 1 }),
    ],
    [
      "with a payload that is not encoded",
      hmacToken(CLAIMS, { alg: "HS256", crit: ["b64"], b64: false }),
    ],
    [
      "with b64 that says nothing new",
      hmacToken(CLAIMS, { alg: "HS256", crit: ["b64"], b64: true }),
    ],
    ["with a header that is not JSON", `AAAA.${payload}.${signature}`],
    ["encrypted", `${part({ alg: "dir", enc: "A256GCM" })}..AAAA.AAAA.AAAA`],
    ["with a fourth part", `${good}.AAAA`],
    ["with two parts", `${header}.${payload}`],
    ["with one part", header],
    ["of nothing", ""],
    ["of two dots", ".."],
    ["of one dot", "."],
    ["with a space before it", ` ${good}`],
    ["with a line break after it", `${good}\n`],
    ["with a space within", `${header}. ${payload}.${signature}`],
    ["with padding", `${good}=`],
    ["in plain base64", `${header}.${payload}.++//`],
    ["with Bearer before it", `Bearer ${good}`],
    ["of a megabyte", `${header}.${"A".repeat(1_000_000)}.${signature}`],
    ["of a megabyte of dots", ".".repeat(1_000_000)],
  ])("%s", async (_, token) => {
    await expectRefused(withSecret().authenticate(token));
  });

  test("signed with the public key as if it were a secret", async () => {
    const authenticator = createTokenAuthenticator({ wallClock, publicKey: rsaPem });
    for (const secret of [
      rsaPem,
      rsaPem.trim(),
      rsa.publicKey.export({ format: "der", type: "spki" }),
    ])
      await expectRefused(
        authenticator.authenticate(
          hmacToken(CLAIMS, { alg: "HS256" }, { secret: Buffer.from(secret) }),
        ),
      );
  });

  test("that brings its own key", async () => {
    const theirs = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const jwk = theirs.publicKey.export({ format: "jwk" });
    const authenticator = createTokenAuthenticator({ wallClock, publicKey: rsaPem });
    await expectRefused(
      authenticator.authenticate(signedToken("RS256", { key: theirs.privateKey }, { jwk })),
    );
  });

  test("by an algorithm that was not asked for, though the key is fit for it", async () => {
    const long = Buffer.alloc(64, 7);
    const authenticator = createTokenAuthenticator({
      wallClock,
      secretKey: long,
      algorithms: ["HS256"],
    });
    const token = hmacToken(CLAIMS, { alg: "HS512" }, { hash: "sha512", secret: long });
    await expectRefused(authenticator.authenticate(token));
  });
});

describe("settings", () => {
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
  const odd = generateKeyPairSync("x25519").publicKey;
  const privatePem = rsa.privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  const text: unknown = secretKey.toString();

  test.each([
    ["a secret of 31 bytes", { secretKey: secretKey.subarray(1) }, /at least 32/],
    ["a secret that is text", { secretKey: text as Uint8Array }, /must be bytes/],
    ["a public key that is none", { publicKey: "canary" }, /cannot be read/],
    ["bytes that are no key", { publicKey: Buffer.from("canary") }, /cannot be read/],
    ["a private key", { publicKey: privatePem }, /is a private key/],
    ["a short RSA key", { publicKey: spki(small) }, /1024 bits/],
    ["a key that cannot sign", { publicKey: spki(odd) }, /signs no tokens/],
    ["none among the algorithms", { secretKey, algorithms: ["none"] }, /may have HS256/],
    ["HMAC with a public key", { publicKey: rsaPem, algorithms: ["HS256"] }, /may have RS256/],
    ["no algorithms", { secretKey, algorithms: [] }, /is empty/],
    ["a negative leeway", { secretKey, leewayMs: -1 }, /leewayMs/],
    ["an unknown option", { secretKey, allowNoExpiri: true }, /no option "allowNoExpiri"/],
  ])("with %s are refused, and nothing of a key is told", (_, settings, why) => {
    const create = (): unknown => createTokenAuthenticator({ wallClock, ...settings });
    expect(create).toThrow(ConfigError);
    expect(create).toThrow(why);
    expect(create).not.toThrow(/canary|BEGIN/);
  });
});

test("neither the authenticator nor its errors print the secret or a token", async () => {
  const authenticator = withSecret();
  const error = await authenticator.authenticate(`${good}x`).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AuthenticationError);
  const printed = [authenticator, error]
    .flatMap((value) => [inspect(value, { depth: 9, showHidden: true }), JSON.stringify(value)])
    .join("\n");
  for (const secret of ["canary", secretKey.toString("base64"), secretKey.toString("hex"), payload])
    expect(printed).not.toContain(secret);
  expect(printed).toContain("authenticate");
});

async function expectRefused(answer: Promise<unknown>): Promise<void> {
  const error = await answer.then(
    () => "taken",
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AuthenticationError);
  expect(error).toMatchObject({ code: "BROKER", serverError: "AuthenticationError" });
}

function withSecret(settings: Partial<TokenAuthenticatorOptions> = {}) {
  const { leewayMs = 60_000, allowNoExpiry = false } = settings;
  return createTokenAuthenticator({ wallClock, secretKey, leewayMs, allowNoExpiry });
}

function part(value: object | string | Uint8Array): string {
  const isRaw = typeof value === "string" || value instanceof Uint8Array;
  return Buffer.from(isRaw ? value : JSON.stringify(value)).toString("base64url");
}

interface Hmac {
  readonly hash?: string;
  readonly secret?: Uint8Array;
}

function hmacToken(claims: object, head: object = { alg: "HS256" }, hmac: Hmac = {}): string {
  return hmacOf(`${part(head)}.${part(claims)}`, hmac);
}

/** Base64 has four characters for three bytes, so that this comes within three of `length`. */
function tokenOfLength(length: number): string {
  const rest = length - hmacToken({ ...CLAIMS, pad: "" }).length;
  return hmacToken({ ...CLAIMS, pad: "x".repeat(Math.round(rest / 4) * 3) });
}

function hmacText(text: string | Uint8Array): string {
  return hmacOf(`${part({ alg: "HS256" })}.${part(text)}`);
}

function hmacOf(input: string, { hash = "sha256", secret = secretKey }: Hmac = {}): string {
  return `${input}.${createHmac(hash, secret).update(input).digest("base64url")}`;
}

interface SigningKey {
  readonly key: KeyObject;
  readonly padding?: number;
  readonly saltLength?: number;
  readonly dsaEncoding?: "ieee-p1363";
}

function signedToken(alg: string, key: SigningKey, head: object = {}): string {
  const input = `${part({ ...head, alg })}.${part(CLAIMS)}`;
  return `${input}.${sign("sha256", Buffer.from(input), key).toString("base64url")}`;
}

function spki(key: KeyObject): Uint8Array {
  return key.export({ format: "der", type: "spki" });
}

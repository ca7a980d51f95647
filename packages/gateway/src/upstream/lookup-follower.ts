import { once } from "node:events";
import type { Socket } from "node:net";
import type { Timer } from "@sluice/core";
import { encodeFrame, FrameDecoder, LOOKUP_RESULT } from "@sluice/pulsar/wire";
import type { Command, CommandBodies, CommandKind } from "@sluice/pulsar/wire";
import { decodeBrokerFrame } from "../relay/relay-commands.ts";
import { targetName, targetOfUrl } from "../relay/target.ts";
import type { Target } from "../relay/target.ts";
import type { Dialer } from "./dialer.ts";
import type { TargetGuard } from "./target-guard.ts";

export interface FollowerDependencies {
  readonly timer: Timer;
  readonly dialer: Dialer;
  readonly guard: TargetGuard;
  readonly isTls: boolean;
}

export interface RedirectedLookup {
  /** The client's CONNECT, with its credentials. */
  readonly connect: Buffer;
  readonly lookup: CommandBodies["lookup"];
  readonly target: Target;
}

/** Redirects of one lookup; more mean that the brokers redirect in a circle. */
const HOPS_MAX = 10;

/** Lookups that are followed at a time, of all clients: a socket each. */
const FOLLOWED_MAX = 256;

const FOLLOW_MS = 20_000;

/** Asks the brokers that lookups are redirected to, on connections of their own. */
export class LookupFollower {
  readonly #dependencies: FollowerDependencies;
  #following = 0;

  constructor(dependencies: FollowerDependencies) {
    this.#dependencies = dependencies;
  }

  /** The answer of the first broker that does not redirect. */
  async follow(
    { connect, lookup, target }: RedirectedLookup,
    signal: AbortSignal,
  ): Promise<CommandBodies["lookupResponse"]> {
    if (this.#following >= FOLLOWED_MAX)
      throw new Error(`${FOLLOWED_MAX} redirected lookups are on their way; try again`);
    this.#following++;
    const { timer, guard, isTls } = this.#dependencies;
    const late = new AbortController();
    const done = new AbortController();
    void timer
      .sleep(FOLLOW_MS, done.signal)
      .then(() => late.abort(new Error(`a redirected lookup took ${FOLLOW_MS} ms`)))
      .catch(() => undefined);
    try {
      const either = AbortSignal.any([signal, late.signal]);
      let next = { ...lookup };
      let at = target;
      for (let hop = 0; hop < HOPS_MAX; hop++) {
        const answer = await this.#ask(connect, next, at, either);
        if (answer.response !== LOOKUP_RESULT.redirect) return answer;
        const { brokerServiceUrl, brokerServiceUrlTls, authoritative } = answer;
        const redirected = targetOfUrl(isTls ? brokerServiceUrlTls : brokerServiceUrl);
        if (redirected === undefined) throw new Error("a redirect names no broker");
        guard.name(redirected);
        at = redirected;
        next = { ...lookup, authoritative };
      }
      throw new Error(`a lookup was redirected more than ${HOPS_MAX} times`);
    } finally {
      done.abort();
      this.#following--;
    }
  }

  async #ask(
    connect: Buffer,
    lookup: CommandBodies["lookup"],
    target: Target,
    signal: AbortSignal,
  ): Promise<CommandBodies["lookupResponse"]> {
    const { socket } = await this.#dependencies.dialer.dial(target, signal);
    const commands = commandsOf(socket, signal);
    try {
      socket.write(connect);
      await answerOf(commands, "connected");
      socket.write(encodeFrame({ kind: "lookup", body: lookup }));
      return await answerOf(commands, "lookupResponse");
    } catch (error) {
      signal.throwIfAborted();
      // The broker was reached, so that it is not lost.
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`broker ${targetName(target)} does not answer a lookup: ${reason}`, {
        cause: error,
      });
    } finally {
      socket.on("error", () => {}).destroy();
    }
  }
}

/** The commands that a broker sends, until the socket or the signal ends. */
async function* commandsOf(socket: Socket, signal: AbortSignal): AsyncGenerator<Command> {
  const decoder = new FrameDecoder();
  for (;;) {
    for (let bytes = decoder.next(); bytes !== undefined; bytes = decoder.next())
      yield decodeBrokerFrame(bytes).command;
    const chunk = await nextChunk(socket, signal);
    decoder.push(chunk);
  }
}

async function nextChunk(socket: Socket, signal: AbortSignal): Promise<Buffer> {
  for (;;) {
    const chunk: unknown = socket.read();
    if (Buffer.isBuffer(chunk)) return chunk;
    if (socket.destroyed || socket.readableEnded)
      throw new Error("the broker closed the connection");
    const stopped = new AbortController();
    const either = AbortSignal.any([signal, stopped.signal]);
    try {
      await Promise.race([
        once(socket, "readable", { signal: either }),
        once(socket, "close", { signal: either }),
      ]);
    } finally {
      stopped.abort();
    }
  }
}

async function answerOf<Kind extends CommandKind>(
  commands: AsyncGenerator<Command>,
  kind: Kind,
): Promise<CommandBodies[Kind]> {
  for (;;) {
    const next = await commands.next();
    if (next.done === true) throw new Error("the broker closed the connection");
    const command = next.value;
    if (command.kind === kind) return command.body as CommandBodies[Kind];
    if (command.kind === "error") throw new Error(command.body.message);
    if (command.kind === "authChallenge")
      throw new Error("it asks for more credentials, which only the client has");
  }
}

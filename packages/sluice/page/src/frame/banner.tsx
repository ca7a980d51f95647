import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { systemClock, systemWallClock } from "@sluice/core/system";
import {
  canChange,
  connection,
  giveToken,
  hello,
  isOutdated,
  lastHeardAtMs,
  tryNow,
} from "../live/live-store.ts";
import { Icon } from "../parts/icon.tsx";
import { clockTime } from "../words/clock-time.ts";
import { durationText } from "../words/numbers.ts";
import { lostForMs } from "./connection-badge.tsx";
import { nowMs } from "./ticking.ts";
import { isTokenAsked } from "./token.ts";

/** What stands above the page: no connection, or what read only means. */
export function Banner(): JSX.Element | null {
  if (lostForMs.value !== undefined) return <LostBanner />;
  if (isOutdated.value) return <OutdatedBanner />;
  if (connection.value.kind === "unauthorized") return <TokenBanner mayRead={false} />;
  if (hello.value !== undefined && !canChange.value && isTokenAsked.value)
    return <TokenBanner mayRead />;
  return null;
}

function LostBanner(): JSX.Element {
  const heard = lastHeardAtMs.value ?? 0;
  const age = Math.floor((nowMs.value - heard) / 1_000) * 1_000;
  const since = clockTime(systemWallClock.now() - (systemClock.now() - heard));
  const state = connection.value;
  const nextInMs = state.kind === "waiting" ? Math.max(0, state.nextAtMs - nowMs.value) : 0;
  return (
    <div class="banner" role="alert">
      <Icon name="error" size={16} />
      <span>
        <b>No connection to this member since {since}.</b> What you see is {whole(age)} old. Traffic
        does not depend on this page.{" "}
        {nextInMs > 0 ? `Trying again in ${whole(nextInMs)}.` : "Trying again."}
      </span>
      <span class="sp" />
      <button class="btn small" type="button" onClick={tryNow}>
        Try now
      </button>
    </div>
  );
}

/** After an update of Sluice under an open page. */
function OutdatedBanner(): JSX.Element {
  return (
    <div class="banner" role="alert">
      <Icon name="error" size={16} />
      <span>
        <b>Reload the page.</b> Sluice is now version {hello.value?.version}, and this page is of
        another one. Numbers stand still until then.
      </span>
      <span class="sp" />
      <button class="btn small" type="button" onClick={() => location.reload()}>
        Reload
      </button>
    </div>
  );
}

function TokenBanner({ mayRead }: { readonly mayRead: boolean }): JSX.Element {
  const [text, setText] = useState("");
  const [isTried, setTried] = useState(false);
  const submit = (event: Event): void => {
    event.preventDefault();
    const given = text.trim();
    if (given === "") return;
    setTried(true);
    giveToken(given);
  };
  return (
    <div class="banner quiet">
      <Icon name="lock" size={15} />
      <span>
        <b>{mayRead ? "Read only." : "A token is needed."}</b> The token is in the file that{" "}
        <code>admin.tokenFile</code> names; give it here to{" "}
        {mayRead ? "change limits" : "see this flow"}.
        {isTried && connection.value.kind !== "connecting" && (
          <span class="wrong" role="alert">
            {" "}
            This token was not accepted.
          </span>
        )}
      </span>
      <span class="sp" />
      <form onSubmit={submit}>
        <input
          id="token"
          aria-label="Token"
          placeholder="paste the token"
          autoComplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button class="btn small" type="submit">
          Unlock
        </button>
      </form>
    </div>
  );
}

function whole(ms: number): string {
  return durationText(Math.max(1_000, Math.ceil(ms / 1_000) * 1_000)).replace(".0 s", " s");
}

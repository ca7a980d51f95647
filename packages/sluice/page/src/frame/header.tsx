import type { JSX } from "preact";
import { canChange, hello } from "../live/live-store.ts";
import { Icon, Logo } from "../parts/icon.tsx";
import { ConnectionBadge } from "./connection-badge.tsx";
import { showKeys } from "./keys.tsx";
import { PAGES, route } from "./router.ts";
import { theme, toggleTheme } from "./theme.ts";
import { askForToken } from "./token.ts";

export function Header(): JSX.Element {
  const flow = hello.value?.flow;
  return (
    <header class="top">
      <a class="brand" href="/" aria-label="Sluice, overview">
        <Logo />
        <span class="w">Sluice</span>
      </a>
      {flow !== undefined && <span class="crumb">{flow}</span>}
      <nav class="nav" aria-label="Pages">
        {PAGES.map(({ id, name, path }) => (
          <a key={id} href={path} aria-current={route.value.page === id ? "page" : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <span class="sp" />
      <ConnectionBadge />
      {hello.value !== undefined && <Permission />}
      <button
        class="tool"
        type="button"
        title="Light or dark (d)"
        aria-label="Switch theme"
        onClick={toggleTheme}
      >
        <Icon name={theme.value === "dark" ? "sun" : "moon"} size={15} />
      </button>
      <button class="tool keys" type="button" title="Keys (?)" aria-label="Keys" onClick={showKeys}>
        <span class="kbd">?</span>
      </button>
    </header>
  );
}

function Permission(): JSX.Element {
  if (canChange.value)
    return (
      <span class="tool" title="Changes are allowed">
        <Icon name="pen" />
        <span class="w">Can change limits</span>
      </span>
    );
  return (
    <button
      class="tool"
      type="button"
      title="Give a token to change limits"
      aria-label="Read only: give a token to change limits"
      onClick={askForToken}
    >
      <Icon name="lock" />
      <span class="w">Read only</span>
    </button>
  );
}

import type { ComponentType, JSX } from "preact";
import { Announcer } from "./announcer.tsx";
import { Banner } from "./banner.tsx";
import { Header } from "./header.tsx";
import { KeysDialog } from "./keys.tsx";
import { route } from "./router.ts";
import type { PageId } from "./router.ts";
import { Toast } from "./toast.tsx";

/** The header, and below it the page that the address names. */
export function Frame({
  pages,
}: {
  readonly pages: Readonly<Record<PageId, ComponentType<{ readonly rest: string }>>>;
}): JSX.Element {
  const { page, rest } = route.value;
  const Page = pages[page];
  return (
    <>
      <a class="skip" href={page === "overview" ? "#waits" : "#main"}>
        Skip to what waits
      </a>
      <Header />
      <Announcer />
      <main class="page" id="main" tabIndex={-1}>
        <Banner />
        <Page key={page} rest={rest} />
      </main>
      <Toast />
      <KeysDialog />
    </>
  );
}

import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Headline } from "./headline.tsx";

type Page = ComponentType<{ readonly rest: string }>;

/** A page whose code is loaded when it is shown first. A process of another version has no file of that name any more. */
export function later(load: () => Promise<Page>): Page {
  let loaded: Page | undefined;
  return function Later(props: { readonly rest: string }): JSX.Element {
    const [page, setPage] = useState<{ readonly Page: Page } | "failed" | undefined>(
      loaded === undefined ? undefined : { Page: loaded },
    );
    useEffect(() => {
      if (page !== undefined) return;
      const show = async (): Promise<void> => {
        try {
          loaded = await load();
          setPage({ Page: loaded });
        } catch {
          setPage("failed");
        }
      };
      void show();
    }, []);
    if (page === undefined) return <Headline />;
    return page === "failed" ? <NotLoaded /> : <page.Page {...props} />;
  };
}

function NotLoaded(): JSX.Element {
  return (
    <Headline>
      The code of this page could not be loaded from this member.{" "}
      <button class="btn small" type="button" onClick={() => location.reload()}>
        Reload
      </button>
    </Headline>
  );
}

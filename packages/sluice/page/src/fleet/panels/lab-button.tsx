import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { LivePoolDetail } from "../../../../src/live/live-message.ts";

/** To the lab with the settings of a pool. Its code is loaded with the lab's, which this page does not need itself. */
export function LabButton({ detail }: { readonly detail: LivePoolDetail }): JSX.Element {
  const [href, setHref] = useState("/lab");
  const { share, settings, members } = detail;
  const living = members.filter(({ state }) => state !== "left").length;
  // A pool is told of every half second; its link changes with these alone.
  const key = JSON.stringify([detail.of, share.max, share.min, settings, living]);
  useEffect(() => {
    let isCurrent = true;
    const write = async (): Promise<void> => {
      const { labLink } = await import("../model/lab-link.ts");
      const link = await labLink(detail);
      if (isCurrent) setHref(link);
    };
    // Without that code the link opens the lab as it starts.
    write().catch(() => undefined);
    return () => {
      isCurrent = false;
    };
  }, [key]);
  return (
    <a class="btn small" href={href}>
      Try other settings in the lab
    </a>
  );
}

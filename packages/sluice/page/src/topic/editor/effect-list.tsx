import type { JSX } from "preact";
import { Icon } from "../../parts/icon.tsx";
import { Words } from "../../parts/words.tsx";
import type { Effect } from "../model/effects.ts";

/** What a limit does or would do, a line for each effect. */
export function EffectList({
  title,
  effects,
}: {
  readonly title: string;
  readonly effects: readonly Effect[];
}): JSX.Element {
  return (
    <div class="effects">
      <h3>{title}</h3>
      <ul>
        {effects.map(({ icon, ink, says }) => (
          <li>
            <span style={{ color: `var(--${ink})` }}>
              <Icon name={icon} size={13} />
            </span>
            <span>
              <Words of={says} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

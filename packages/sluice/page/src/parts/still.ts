import { Component } from "preact";
import type { ComponentChild, ComponentType } from "preact";

/**
 * A component that is rendered again only when one of its props is another value. For parts that the page has dozens of,
 * whose props are words and numbers: most of them are the same with the next sample. It may read no signal.
 */
export function still<Props extends object>(
  render: (props: Props) => ComponentChild,
): ComponentType<Props> {
  return class Still extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const before = this.props;
      for (const key in { ...before, ...next })
        if (next[key as keyof Props] !== before[key as keyof Props]) return true;
      return false;
    }

    override render(): ComponentChild {
      return render(this.props);
    }
  };
}

import type { JSX } from "preact";
import type { LiveGateway } from "../../../src/live/live-message.ts";
import { Headline } from "../frame/headline.tsx";
import { Icon } from "../parts/icon.tsx";
import { LimitEditor } from "./editor/limit-editor.tsx";
import { limitScale } from "./model/limit-scale.ts";
import type { LimitView } from "./model/limit-view.ts";
import { labelOf } from "./model/target.ts";

/** A process of pipelines alone. */
export function NoGateway(): JSX.Element {
  return (
    <>
      <Headline>
        <b>This process has no gateway</b>, so no producer connects to it and nothing is limited
        here.
      </Headline>
      <section class="panel empty">
        <Icon name="idle" size={18} />
        <p>
          Its flow file has only <code>pipelines:</code>. The limits of their sources and sinks are
          on <a href="/fleet">Fleet</a>. With a <code>gateway:</code> in the flow file, topics and
          their limits are shown here.
        </p>
      </section>
    </>
  );
}

/** Nothing has this name; a limit can be set all the same, before the first message. */
export function MissingTopic({
  target,
  gateway,
}: {
  readonly target: LimitView["target"];
  readonly gateway: LiveGateway;
}): JSX.Element {
  const label = labelOf(target);
  const isTopic = target.kind === "topic";
  return (
    <>
      <Headline>
        {isTopic ? "No topic" : "No group"} is called{" "}
        <b>{"name" in target ? target.name : label}</b> here.
      </Headline>
      <section class="panel empty">
        <Icon name="idle" size={18} />
        <p>
          {isTopic
            ? "A topic begins with its first producer or consumer. A limit that is set before holds from its first message on."
            : "Groups are named in the flow file under gateway.limits.groups."}
        </p>
      </section>
      {isTopic && (
        <div class="one-editor">
          <LimitEditor
            view={emptyView(target)}
            gateway={gateway}
            detail={undefined}
            scale={limitScale([1_000])}
            place={undefined}
          />
        </div>
      )}
    </>
  );
}

function emptyView(target: LimitView["target"]): LimitView {
  return {
    target,
    label: labelOf(target),
    rate: { messages: 0, bytes: 0 },
    limit: undefined,
    asked: 0,
    isAskedAtLeast: false,
    reason: undefined,
    producers: [],
    producersLeftOut: 0,
    limitedForMs: undefined,
    isShared: false,
    groups: [],
    topics: 0,
  };
}

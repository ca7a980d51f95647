import { Fragment } from "preact";
import type { JSX } from "preact";
import type {
  LiveGate,
  LivePipeline,
  LiveShare,
  LiveVertex,
} from "../../../../src/live/live-message.ts";
import { GateChip } from "../../parts/chip.tsx";
import { Icon } from "../../parts/icon.tsx";
import { BigRate } from "../../parts/rate.tsx";
import { StateTag } from "../../parts/state-tag.tsx";
import { countText, countedText, durationText, NOT_KNOWN, rateText } from "../../words/numbers.ts";
import { queuedPart } from "../lanes/lanes.ts";
import { serviceState, vertexRate, vertexState } from "./vertex-state.ts";

const CAPTIONS = { source: "Source", map: "Map", sink: "Sink" } as const;

/** Widths of a node and of the gap behind it. */
const COLUMNS = {
  source: "minmax(132px, 160px)",
  map: "minmax(116px, 148px)",
  sink: "minmax(148px, 172px)",
} as const;
const GAP = "minmax(24px, 0.4fr)";
/** Two gates stand in the gap before a service. */
const SERVICE = "minmax(60px, 0.95fr) minmax(118px, 136px)";

/** A pipeline: its vertices from the source to the sink, the service behind it, and the pool of its limit. */
export function Chain({
  pipeline,
  isNamed,
}: {
  readonly pipeline: LivePipeline;
  readonly isNamed: boolean;
}): JSX.Element {
  const { name, vertices, status } = pipeline;
  const last = vertices.at(-1);
  const gate = last?.gate;
  const shared = vertices.find(({ share }) => share !== undefined);
  const columns = vertices.map(({ kind }) => COLUMNS[kind]).join(` ${GAP} `);
  const middle = vertices.map(() => "minmax(0, 1fr)").join(" 26px ");
  const style = {
    "--columns": gate === undefined ? columns : `${columns} ${SERVICE}`,
    "--columns-middle": gate === undefined ? middle : `${middle} 44px minmax(0, 1fr)`,
    "--pool-end": String(vertices.length * 2),
  };
  return (
    <div class="chain-box">
      {(isNamed || status !== "running") && (
        <div class="cap">
          Pipeline {name} {status !== "running" && <b>{status}</b>}
        </div>
      )}
      <div class="chain" style={style}>
        {vertices.map((vertex, index) => (
          <Fragment key={vertex.name}>
            <div class="col" style={{ "--column": String(index * 2 + 1) }}>
              <div class="cap">{CAPTIONS[vertex.kind]}</div>
              <VertexNode vertex={vertex} pipeline={name} />
            </div>
            {vertex === shared && vertex.share !== undefined && (
              <Pool share={vertex.share} vertex={vertex} pipeline={name} />
            )}
          </Fragment>
        ))}
        {gate !== undefined && (
          <div class="col" style={{ "--column": String(vertices.length * 2 + 1) }}>
            <div class="cap">Service</div>
            <ServiceNode gate={gate} pipeline={name} />
          </div>
        )}
        {gate !== undefined && <Answers gate={gate} pipeline={name} />}
      </div>
    </div>
  );
}

function VertexNode({
  vertex,
  pipeline,
}: {
  readonly vertex: LiveVertex;
  readonly pipeline: string;
}): JSX.Element {
  const { name, reason } = vertex;
  const part = queuedPart(vertex);
  const isKnown = vertex.queue !== undefined || vertex.gate !== undefined;
  const state = vertexState(vertex);
  return (
    <div class="node vx" data-node={`v ${pipeline} ${name}`}>
      <div
        class={
          state === "throttled" || state === "lost" || state === "paused" ? "tank hot" : "tank"
        }
        aria-hidden="true"
      >
        {isKnown && (
          <i style={{ height: `${(part > 0 ? Math.max(2, part * 100) : 0).toFixed(1)}%` }} />
        )}
      </div>
      <div class="h">
        <b>{name}</b>
      </div>
      <div class="rt">
        <BigRate perSecond={vertexRate(vertex)} />
      </div>
      <Facts vertex={vertex} />
      <div class="st">
        {vertex.behind !== undefined ? (
          <StateTag state="throttled" word={`Behind ${vertex.behind}`} />
        ) : reason === undefined ? (
          <StateTag state={state} />
        ) : (
          <GateChip state={state} reason={reason} />
        )}
      </div>
    </div>
  );
}

function Facts({ vertex }: { readonly vertex: LiveVertex }): JSX.Element {
  const [first, second] = factsOf(vertex);
  return (
    <dl>
      <dt>{first[0]}</dt>
      <dd class="num">{first[1]}</dd>
      <dt>{second[0]}</dt>
      <dd class="num">{second[1]}</dd>
    </dl>
  );
}

type Fact = readonly [string, string];

function factsOf({
  kind,
  share,
  queue,
  queueMax,
  droppedRate,
  inFlight,
  gate,
}: LiveVertex): readonly [Fact, Fact] {
  const queued: Fact = [
    "queue",
    queueMax === undefined ? countText(queue) : `${countText(queue)} of ${countText(queueMax)}`,
  ];
  if (kind === "source")
    return [
      share === undefined ? ["in flight", countText(inFlight)] : ["share", rateText(share.share)],
      ["backlog", countText(queue)],
    ];
  if (kind === "map") return [["dropped", rateText(droppedRate)], queued];
  if (gate === undefined)
    return [
      share === undefined ? ["in flight", countText(inFlight)] : ["share", rateText(share.share)],
      queued,
    ];
  const limit = gate.limit === undefined ? "" : ` of ${countText(Math.floor(gate.limit))}`;
  return [
    ["in flight", `${countText(Math.round(gate.inFlight))}${limit}`],
    ["waiting", countText(gate.waiting)],
  ];
}

function ServiceNode({
  gate,
  pipeline,
}: {
  readonly gate: LiveGate;
  readonly pipeline: string;
}): JSX.Element {
  const [state, word] = serviceState(gate);
  return (
    <div class="node vx service" data-node={`s ${pipeline}`}>
      <div class="h">
        <b title={gate.service}>{gate.service}</b>
      </div>
      <div class="rt">
        <BigRate perSecond={gate.ok} />
      </div>
      <dl>
        <dt>takes</dt>
        <dd class="num">{durationText(gate.rttMs)}</dd>
        <dt>at best</dt>
        <dd class="num">{durationText(gate.bestRttMs)}</dd>
      </dl>
      <div class="st">
        <StateTag state={state} word={word} />
      </div>
    </div>
  );
}

function Answers({
  gate,
  pipeline,
}: {
  readonly gate: LiveGate;
  readonly pipeline: string;
}): JSX.Element {
  return (
    <div class="answers" data-node={`a ${pipeline}`}>
      <div>
        <span class="t3">ok</span>
        <b class="num">{rateText(gate.ok)}</b>
      </div>
      <div>
        <span class="t3">busy</span>
        <span class="num">{rateText(gate.busy)}</span>
      </div>
      <div>
        <span class="t3">failed</span>
        <span class="num">{rateText(gate.failed)}</span>
      </div>
    </div>
  );
}

/** Parts that the bar is divided into; a larger pool is drawn as one part beside this member's. */
const PARTS_MAX = 16;

/** The members of the limit, this one outlined; the rest of the maximum is hatched. */
function Pool({
  share,
  vertex,
  pipeline,
}: {
  readonly share: LiveShare;
  readonly vertex: LiveVertex;
  readonly pipeline: string;
}): JSX.Element {
  const { members, ceiling, max, syncAgeMs, share: own } = share;
  const isLost = vertex.reason === "store-lost";
  const used = own === undefined || own <= 0 ? 0 : Math.min(1, vertex.rate / own);
  const ofAll =
    max === undefined || max <= 0 || ceiling === undefined ? 1 : Math.min(1, ceiling / max);
  const count = isLost ? 1 : Math.min(PARTS_MAX, Math.max(1, members));
  return (
    <div class="pool" data-node={`pool ${pipeline}`} data-vertex={vertex.name}>
      <div class="row">
        <Icon name={isLost ? "store-lost" : "store"} class={isLost ? "red" : "t2"} />
        <b class="strong">
          {isLost ? "Store lost" : members > 1 ? `Pool of ${members}` : `Limit of ${vertex.name}`}
        </b>
        <span class="t2 num">
          {isLost
            ? `safe share ${rateText(own)}`
            : `ceiling ${rateText(ceiling)}${max === undefined ? "" : ` of ${countText(max)}`}`}
        </span>
        <span class="t3 num sync">
          {isLost
            ? "no answer"
            : syncAgeMs === undefined
              ? "this process alone"
              : `synced ${durationText(syncAgeMs)} ago`}
        </span>
      </div>
      <div
        class="parts"
        role="meter"
        aria-label={`${vertex.name}: used of its share`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(used * 100)}
        aria-valuetext={`${rateText(vertex.rate)} of ${rateText(own)}, ${countedText(members, "member")}`}
      >
        {Array.from({ length: count }, (_, index) => (
          <i
            key={index}
            class={index === 0 ? "me" : ""}
            style={{ flexGrow: String((isLost ? 0.02 : ofAll) / count) }}
          >
            {index === 0 && <b style={{ width: `${(used * 100).toFixed(1)}%` }} />}
          </i>
        ))}
        <span
          class="rest"
          style={{ flexGrow: String(isLost ? 0.98 : Math.max(0.001, 1 - ofAll)) }}
        />
      </div>
      {own === undefined && <span class="sr">{NOT_KNOWN}</span>}
    </div>
  );
}

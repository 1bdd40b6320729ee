import type { ClusterEvent, ResourceChange } from "./events.js";
import type { StateExport, StateResource } from "./state.js";

/*
 * How long an `up` takes is decided by one chain of resources: each began when the one before it was done. Whoever wants it
 * faster has to look there, and nowhere else.
 */

/** When the engine worked on a resource, in milliseconds since 1970. */
export interface Span extends Pick<ResourceChange, "urn" | "name" | "type" | "phase"> {
  /** The engine's word: create, update, delete, replace, ... */
  readonly operation: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface TimelineRow extends Span {
  /** Whether it is a link of the chain that decided how long it all took. */
  readonly critical: boolean;
}

/** The spans of a run, as its events come in. */
export class Spans {
  private readonly open = new Map<string, number>();
  private readonly closed: Span[] = [];

  take(event: ClusterEvent, now: number): void {
    if (event.type !== "started" && event.type !== "finished") return;
    const { urn, name, type, phase, operation } = event.change;
    const key = `${urn} ${operation}`;
    if (event.type === "started") {
      this.open.set(key, now);
      return;
    }
    const startedAt = this.open.get(key);
    if (startedAt !== undefined)
      this.closed.push({ urn, name, type, phase, operation, startedAt, endedAt: now });
  }

  all(): readonly Span[] {
    return this.closed;
  }
}

/** What a resource waits for. A reference to a provider is its URN and its ID. */
const waitsFor = (resource: StateResource | undefined): string[] => {
  const { dependencies = [], provider = "" } = resource ?? {};
  return [...dependencies, provider.slice(0, provider.lastIndexOf("::"))];
};

/** Milliseconds by which two events that follow each other may come in the wrong order. */
const slack = 50;

/** The last to end of what a resource waited for, also through what stood still. */
function before(
  { urn, startedAt }: Span,
  resources: ReadonlyMap<string, StateResource>,
  spansOf: ReadonlyMap<string, readonly Span[]>,
): Span | undefined {
  const seen = new Set([urn]);
  const found: Span[] = [];
  const look = (one: string): void => {
    for (const other of waitsFor(resources.get(one))) {
      if (seen.has(other)) continue;
      seen.add(other);
      const spans = (spansOf.get(other) ?? []).filter(
        ({ endedAt }) => endedAt <= startedAt + slack,
      );
      found.push(...spans);
      if (spans.length === 0) look(other);
    }
  };
  look(urn);
  return found.sort((a, b) => a.endedAt - b.endedAt).at(-1);
}

/** The chain that ends with the last span, its first link first. Pure. */
export function criticalPath(spans: readonly Span[], state: StateExport | undefined): Span[] {
  const resources = new Map((state?.deployment.resources ?? []).map((one) => [one.urn, one]));
  const spansOf = new Map<string, Span[]>();
  for (const span of spans) spansOf.set(span.urn, [...(spansOf.get(span.urn) ?? []), span]);
  const path: Span[] = [];
  let link = [...spans].sort((a, b) => a.endedAt - b.endedAt).at(-1);
  while (link && !path.includes(link)) {
    path.unshift(link);
    link = before(link, resources, spansOf);
  }
  return path;
}

/** All spans in the order in which they began, with the critical ones marked. Pure. */
export function timelineOf(spans: readonly Span[], state: StateExport | undefined): TimelineRow[] {
  const path = new Set(criticalPath(spans, state));
  return [...spans]
    .sort((a, b) => a.startedAt - b.startedAt)
    .map((span) => ({ ...span, critical: path.has(span) }));
}

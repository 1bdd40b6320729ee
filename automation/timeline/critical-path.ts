import type { DecodedEngineEvent, ResourceChange } from "../pulumi/events.js";
import type { StateExport, StateResource } from "../pulumi/stack-state.js";

/*
 * Computes the critical path of an `up`. The path is a chain of resources. Each resource in the
 * chain started after the previous resource had finished. The run becomes faster only if a resource
 * on this path becomes faster.
 */

/** Time in which the engine worked on a resource. Start and end are in milliseconds since 1970. */
export interface Span extends Pick<ResourceChange, "urn" | "name" | "type" | "phase"> {
  /** Name of the operation in Pulumi's events, for example create, update, delete or replace. */
  readonly operation: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface TimelineRow extends Span {
  /** Whether the resource is on the critical path. */
  readonly critical: boolean;
}

/** Collects the spans of a run from the run's events. */
export class SpanCollector {
  private readonly open = new Map<string, number>();
  private readonly closed: Span[] = [];

  processEvent(event: DecodedEngineEvent, now: number): void {
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

/**
 * Returns the URNs of a resource's dependencies and of its provider. The state names a provider by
 * `<URN>::<ID>`.
 */
const waitsFor = (resource: StateResource | undefined): string[] => {
  const { dependencies = [], provider = "" } = resource ?? {};
  return [...dependencies, provider.slice(0, provider.lastIndexOf("::"))];
};

/**
 * Tolerance in milliseconds. The times of two consecutive events may differ from the real order by
 * this time.
 */
const slack = 50;

/**
 * Returns the dependency that finished last before the span started. For a dependency that did not
 * change, considers the dependencies of this dependency.
 */
function before(
  { urn, startedAt }: Span,
  resources: ReadonlyMap<string, StateResource>,
  spansOf: ReadonlyMap<string, readonly Span[]>,
): Span | undefined {
  const seen = new Set([urn]);
  const found: Span[] = [];
  const visit = (one: string): void => {
    for (const other of waitsFor(resources.get(one))) {
      if (seen.has(other)) continue;
      seen.add(other);
      const spans = (spansOf.get(other) ?? []).filter(
        ({ endedAt }) => endedAt <= startedAt + slack,
      );
      found.push(...spans);
      if (spans.length === 0) visit(other);
    }
  };
  visit(urn);
  return found.sort((a, b) => a.endedAt - b.endedAt).at(-1);
}

/**
 * Returns the critical path that ends with the span that finished last. The first span comes first.
 * Pure.
 */
export function findCriticalPath(spans: readonly Span[], state: StateExport | undefined): Span[] {
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

/** Returns all spans by start time, and marks the spans on the critical path. Pure. */
export function createTimelineRows(
  spans: readonly Span[],
  state: StateExport | undefined,
): TimelineRow[] {
  const path = new Set(findCriticalPath(spans, state));
  return [...spans]
    .sort((a, b) => a.startedAt - b.startedAt)
    .map((span) => ({ ...span, critical: path.has(span) }));
}

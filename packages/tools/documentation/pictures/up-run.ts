import type { OperationEvent } from "../../../../automation/engine/operation-events.js";
import {
  findResourcePhase,
  phaseFacts,
  phases,
  type Phase,
} from "../../../../automation/pulumi/phases.js";

/** Time in milliseconds since the beginning of the run. */
export interface Duration {
  readonly from: number;
  readonly to: number;
}

/** Resource on which the engine worked. */
export interface ResourceSpan extends Duration {
  readonly name: string;
}

/** Step of `up`, or phase of the step that runs the engine. */
export interface RunPart extends Duration {
  readonly title: string;
  /** Resources of a phase. Empty for a step. */
  readonly resources: readonly ResourceSpan[];
}

/** Times of an `up` that succeeded. */
export interface UpRun {
  /** Day of the run: `2026-11-29`. */
  readonly day: string;
  readonly milliseconds: number;
  /** Steps by start time, with the phases in their order instead of the step that has them. */
  readonly parts: readonly RunPart[];
}

type EventOf<Type> = Extract<OperationEvent, { readonly type: Type }>;

const isOf =
  <Type extends OperationEvent["type"]>(type: Type) =>
  (event: OperationEvent): event is EventOf<Type> =>
    event.type === type;

/** Returns the events in lines of JSON. Throws if a line has no JSON. */
export const parseEvents = (text: string): readonly OperationEvent[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as OperationEvent);

/** Returns the steps that begin and end. */
function stepsOf(
  events: readonly OperationEvent[],
  at: (event: OperationEvent) => number,
): RunPart[] {
  const steps = events.filter(isOf("step"));
  return steps
    .filter(({ state }) => state === "begin")
    .map((begin) => {
      const end = steps.find(
        ({ state, title, n }) => state === "end" && title === begin.title && n > begin.n,
      );
      if (!end) throw new Error(`the step "${begin.title}" does not end`);
      return { title: begin.title, from: at(begin), to: at(end), resources: [] };
    });
}

/** Returns the phases in which the engine changed resources. */
function phasesOf(
  events: readonly OperationEvent[],
  at: (event: OperationEvent) => number,
): RunPart[] {
  const work = events.filter(isOf("resource"));
  const spans = new Map<Phase, ResourceSpan[]>();
  for (const started of work.filter(({ state }) => state === "started")) {
    const { urn, name, n, change } = started;
    const phase = findResourcePhase(urn);
    if (phase === undefined) continue;
    const finished = work.find(
      (one) => one.urn === urn && one.change === change && one.n > n && one.state === "finished",
    );
    if (!finished) throw new Error(`the work on ${name} does not finish`);
    const span = { name, from: at(started), to: at(finished) };
    spans.set(phase, [...(spans.get(phase) ?? []), span]);
  }
  return phases
    .map((phase) => ({ title: phaseFacts[phase].title, resources: spans.get(phase) ?? [] }))
    .filter(({ resources }) => resources.length > 0)
    .map(({ title, resources }) => ({
      title,
      resources,
      from: Math.min(...resources.map(({ from }) => from)),
      to: Math.max(...resources.map(({ to }) => to)),
    }));
}

/**
 * Returns the times of an `up` from its events. The phases stand in for the step that runs the
 * engine. Throws if the `up` did not succeed.
 */
export function readUpRun(events: readonly OperationEvent[]): UpRun {
  const [first] = events;
  if (!first || !events.some((event) => event.type === "done" && event.ok))
    throw new Error("the events are not those of an `up` that succeeded");
  const beginning = Date.parse(first.at);
  const at = (event: OperationEvent): number => Date.parse(event.at) - beginning;
  const parts = phasesOf(events, at);
  const begin = Math.min(...parts.map(({ from }) => from));
  const contains = (step: RunPart): boolean =>
    parts.some(({ from, to }) => step.from <= from && to <= step.to);
  const steps = stepsOf(events, at).filter((step) => !contains(step));
  return {
    day: first.at.slice(0, 10),
    milliseconds: Math.max(...events.map(at)),
    parts: [
      ...steps.filter(({ from }) => from <= begin),
      ...parts,
      ...steps.filter(({ from }) => from > begin),
    ],
  };
}

/**
 * Returns the events of the operation that have times of steps and resources, without their other
 * fields. Details of steps, output and results can contain addresses and paths of the machine. Lines
 * before the operation, for example of a download, have no operation.
 */
export const selectTimes = (events: readonly OperationEvent[]): readonly OperationEvent[] =>
  events.flatMap((event): OperationEvent[] => {
    if (!("operation" in event)) return [];
    const { v, operation, n, at, stack } = event;
    const common = { v, operation, n, at, stack };
    switch (event.type) {
      case "step": {
        const { type, state, title, outcome } = event;
        return state === "progress" ? [] : [{ ...common, type, state, title, outcome }];
      }
      case "resource": {
        const { type, state, urn, name, kind, change } = event;
        return [{ ...common, type, state, urn, name, kind, change }];
      }
      case "done":
        return [{ ...common, type: "done", ok: event.ok }];
      default:
        return [];
    }
  });

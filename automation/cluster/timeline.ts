import type { ClusterEvent, ResourceChange } from "./events.js";
import type { Phase } from "./phases.js";

/** How long a phase took: from its first resource's start to its last one's end. Phases overlap. */
export interface PhaseTime {
  readonly phase: Phase;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly resources: number;
  readonly failed: boolean;
}

interface Running {
  readonly change: ResourceChange;
  readonly since: number;
}

interface PhaseRecord {
  startedAt: number;
  endedAt: number;
  finished: number;
  failed: boolean;
  readonly running: Map<string, Running>;
}

/** What is going on, folded from the events: which phases run, what runs in them, what they took. */
export class Timeline {
  private readonly records = new Map<Phase, PhaseRecord>();

  /** Takes in one event and answers the phase it belongs to. `now` is in milliseconds. */
  take(event: ClusterEvent, now: number): Phase | undefined {
    if (event.type !== "started" && event.type !== "finished" && event.type !== "failed")
      return undefined;
    const { phase, urn } = event.change;
    if (phase === undefined) return undefined;
    const record = this.recordOf(phase, now);
    if (event.type === "started") {
      record.running.set(urn, { change: event.change, since: now });
    } else {
      record.running.delete(urn);
      record.endedAt = now;
      if (event.type === "finished") record.finished += 1;
      else record.failed = true;
    }
    return phase;
  }

  private recordOf(phase: Phase, now: number): PhaseRecord {
    const found = this.records.get(phase);
    if (found) return found;
    const made = { startedAt: now, endedAt: now, finished: 0, failed: false, running: new Map() };
    this.records.set(phase, made);
    return made;
  }

  /** The resources of a phase that are being worked on, longest first. */
  running(phase: Phase): readonly Running[] {
    return [...(this.records.get(phase)?.running.values() ?? [])].sort((a, b) => a.since - b.since);
  }

  /** The phase in which this resource runs now. */
  phaseOfRunning(urn: string): Phase | undefined {
    for (const [phase, record] of this.records) if (record.running.has(urn)) return phase;
    return undefined;
  }

  finished(phase: Phase): number {
    return this.records.get(phase)?.finished ?? 0;
  }

  /** Every phase that did something, in the order in which they began. */
  times(): PhaseTime[] {
    return [...this.records]
      .map(([phase, { startedAt, endedAt, finished, failed }]) => ({
        phase,
        startedAt,
        endedAt,
        resources: finished,
        failed,
      }))
      .sort((a, b) => a.startedAt - b.startedAt);
  }
}

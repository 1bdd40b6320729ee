import { findResourcePhase, type Phase } from "../pulumi/phases.js";

/**
 * Duration of a phase: from the start of its first resource to the end of its last resource. Phases
 * overlap.
 */
export interface PhaseTime {
  readonly phase: Phase;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly resources: number;
  readonly failed: boolean;
}

/** Event of a resource. */
interface ResourceWork {
  readonly state: "started" | "finished" | "failed" | "unchanged";
  readonly urn: string;
  readonly name: string;
  readonly kind: string;
}

interface Running {
  readonly resource: ResourceWork;
  readonly since: number;
}

interface PhaseRecord {
  startedAt: number;
  endedAt: number;
  finished: number;
  failed: boolean;
  readonly running: Map<string, Running>;
}

/**
 * Progress of a run, computed from its events: durations of the phases, and the resources on which
 * the engine works.
 */
export class PhaseTracker {
  private readonly records = new Map<Phase, PhaseRecord>();

  /** Processes one event and returns its phase. `now` is in milliseconds. */
  processEvent(resource: ResourceWork, now: number): Phase | undefined {
    const { state, urn } = resource;
    const phase = findResourcePhase(urn);
    if (state === "unchanged" || phase === undefined) return undefined;
    const record = this.recordOf(phase, now);
    if (state === "started") {
      record.running.set(urn, { resource, since: now });
    } else {
      record.running.delete(urn);
      record.endedAt = now;
      if (state === "finished") record.finished += 1;
      else record.failed = true;
    }
    return phase;
  }

  private recordOf(phase: Phase, now: number): PhaseRecord {
    const found = this.records.get(phase);
    if (found) return found;
    const record = { startedAt: now, endedAt: now, finished: 0, failed: false, running: new Map() };
    this.records.set(phase, record);
    return record;
  }

  /** Returns the resources of a phase on which the engine works, the longest running first. */
  running(phase: Phase): readonly Running[] {
    return [...(this.records.get(phase)?.running.values() ?? [])].sort((a, b) => a.since - b.since);
  }

  /**
   * Returns the phase of a resource on which the engine works now. Undefined for other resources.
   */
  phaseOfRunning(urn: string): Phase | undefined {
    for (const [phase, record] of this.records) if (record.running.has(urn)) return phase;
    return undefined;
  }

  countFinished(phase: Phase): number {
    return this.records.get(phase)?.finished ?? 0;
  }

  /** Returns the times of each phase that has begun, by start time. */
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

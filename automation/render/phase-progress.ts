import type { OperationEventBody, ResourceEvent } from "../engine/operation-events.js";
import { phaseFacts, type Phase } from "../pulumi/phases.js";
import { PhaseTracker } from "../timeline/phase-times.js";
import { parseUrn } from "../pulumi/urn.js";
import type { Progress, Step } from "../../base/progress.js";
import { formatDuration } from "../../base/terminal/progress-screen.js";

export interface PhaseViewOptions {
  readonly progress: Progress;
  /** Whether the operation creates or deletes resources. */
  readonly direction: "up" | "destroy";
}

type Of<Type extends OperationEventBody["type"]> = Extract<OperationEventBody, { type: Type }>;

/**
 * Shows the events of resources, machines and scripts as progress: one step per phase, with the
 * latest output line of a running resource.
 */
export class PhaseView {
  readonly timeline = new PhaseTracker();
  private readonly open = new Map<Phase, Step>();

  constructor(private readonly options: PhaseViewOptions) {}

  /** Shows one event that happened at `now`, in milliseconds. Returns whether a phase changed. */
  processEvent(event: Of<"resource" | "machine" | "log">, now: number): boolean {
    if (event.type === "log") this.log(event);
    else if (event.type === "machine") this.machine(event);
    else {
      const phase = this.timeline.processEvent(event, now);
      if (phase !== undefined) this.changed(phase, event);
      return phase !== undefined;
    }
    return false;
  }

  /** Ends all open steps. */
  finish(failed: boolean): void {
    for (const [phase, step] of this.open) {
      const record = this.timeline.times().find((time) => time.phase === phase);
      if (record?.failed === true || (failed && this.timeline.running(phase).length > 0))
        step.failed();
      else step.done(this.count(phase));
    }
    this.open.clear();
  }

  private changed(phase: Phase, { state }: ResourceEvent): void {
    const facts = phaseFacts[phase];
    let step = this.open.get(phase);
    if (!step && state === "started") {
      const title = this.options.direction === "up" ? facts.title : `${facts.title}: removing`;
      step = this.options.progress.step(title, facts[this.options.direction]);
      this.open.set(phase, step);
    }
    const [longest] = this.timeline.running(phase);
    if (longest) step?.update(`${longest.resource.kind} ${longest.resource.name}`);
    this.closeIdle(phase);
  }

  /** Ends the steps of earlier phases in which the engine works on no resource. */
  private closeIdle(active: Phase): void {
    const sign = this.options.direction === "up" ? 1 : -1;
    const stage = (phase: Phase): number => sign * phaseFacts[phase].stage;
    for (const [phase, step] of this.open) {
      if (stage(phase) >= stage(active) || this.timeline.running(phase).length > 0) continue;
      step.done(this.count(phase));
      this.open.delete(phase);
    }
  }

  /**
   * Returns the number of resources in the phase, and the time from the start of the first resource
   * to the end of the last resource. The step of the phase may end later.
   */
  private count(phase: Phase): string {
    const time = this.timeline.times().find((record) => record.phase === phase);
    const count = time?.resources ?? 0;
    const took = formatDuration((time?.endedAt ?? 0) - (time?.startedAt ?? 0));
    return `${count} ${count === 1 ? "resource" : "resources"} in ${took}`;
  }

  private log({ urn, text }: Of<"log">): void {
    const last = text.trim().split("\n").at(-1) ?? "";
    if (urn !== undefined && last !== "") this.detail(urn, `${parseUrn(urn).name}: ${last}`);
  }

  private machine({ urn, machine, script, seconds }: Of<"machine">): void {
    this.detail(urn, `${machine}: ${script}, ${formatDuration(seconds * 1000)}`);
  }

  private detail(urn: string, text: string): void {
    const phase = this.timeline.phaseOfRunning(urn);
    if (phase !== undefined) this.open.get(phase)?.update(text);
  }
}

import { machineOf, type ClusterEvent } from "../pulumi/events.js";
import { phaseFacts, type Phase } from "../pulumi/phases.js";
import type { Redactor } from "../pulumi/redact-secrets.js";
import { Timeline } from "../timeline/phase-times.js";
import { parseUrn } from "../pulumi/urn.js";
import type { Progress, Step } from "../../base/progress.js";
import { duration } from "./progress-screen.js";

export interface OperationViewOptions {
  readonly progress: Progress;
  readonly direction: "up" | "destroy";
  readonly redactor: Redactor;
  readonly now?: () => number;
}

/**
 * Pattern of engine warnings that a user cannot act on: about the path of a plugin, and about
 * arguments that the SDK sets.
 */
const noise = /^using pulumi-\S+ from \$PATH|property "useOctavia" is deprecated/;

/**
 * Shows the events of an operation as progress. Each phase is a step, which shows the latest output
 * line of a resource on which the engine works.
 */
export class OperationView {
  readonly timeline = new Timeline();
  private readonly open = new Map<Phase, Step>();
  private readonly now: () => number;

  constructor(private readonly options: OperationViewOptions) {
    this.now = options.now ?? Date.now;
  }

  take(event: ClusterEvent): void {
    if (event.type === "log") this.log(event.urn, event.text);
    else if (event.type === "alive") this.alive(event);
    else if (event.type === "message") this.message(event);
    else {
      const phase = this.timeline.take(event, this.now());
      if (phase !== undefined) this.changed(phase, event);
    }
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

  private changed(phase: Phase, event: ClusterEvent): void {
    const facts = phaseFacts[phase];
    let step = this.open.get(phase);
    if (!step && event.type === "started") {
      const title = this.options.direction === "up" ? facts.title : `${facts.title}: removing`;
      step = this.options.progress.step(title, facts[this.options.direction]);
      this.open.set(phase, step);
    }
    const [longest] = this.timeline.running(phase);
    if (longest) step?.update(`${longest.change.type} ${longest.change.name}`);
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
    const took = duration((time?.endedAt ?? 0) - (time?.startedAt ?? 0));
    return `${count} ${count === 1 ? "resource" : "resources"} in ${took}`;
  }

  private log(urn: string, text: string): void {
    const last = text.trim().split("\n").at(-1) ?? "";
    if (last !== "") this.detail(urn, `${parseUrn(urn).name}: ${last}`);
  }

  private alive({ urn, step, seconds }: Extract<ClusterEvent, { type: "alive" }>): void {
    this.detail(urn, `${machineOf(urn, step)}: ${step}, ${duration(seconds * 1000)}`);
  }

  private detail(urn: string, text: string): void {
    const phase = this.timeline.phaseOfRunning(urn);
    if (phase !== undefined) this.open.get(phase)?.update(this.options.redactor.clean(text));
  }

  private message(event: Extract<ClusterEvent, { type: "message" }>): void {
    if (noise.test(event.text)) return;
    if (event.severity === "info") {
      this.log(event.urn, event.text);
      return;
    }
    const who = event.urn === "" ? "" : `${parseUrn(event.urn).name}: `;
    const sign = event.severity === "error" ? "x" : "!";
    this.options.progress.note(this.options.redactor.clean(`${sign} ${who}${event.text}`));
  }
}

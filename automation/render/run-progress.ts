import type { Progress, Step } from "../../base/progress.js";
import type { OperationEvent, OperationEventBody } from "../engine/operation-events.js";
import { parseUrn } from "../pulumi/urn.js";
import { renderClusterLine } from "./cluster-line.js";
import { convertPhaseTimes, type TimedPhase } from "./cluster-report.js";
import { PhaseView } from "./phase-progress.js";

export interface RunViewOptions {
  readonly progress: Progress;
  /**
   * Direction of an operation that creates or deletes resources. The resources are shown by phase.
   * Absent: a resource is shown as a detail of the step.
   */
  readonly direction?: "up" | "destroy";
  /** Whether the stack's clusters are shown. Default: true. */
  readonly showsCluster?: boolean;
}

/** Step that has begun, with its start time in milliseconds. */
interface Open {
  readonly title: string;
  readonly since: number;
  readonly step: Step;
  hasPhases: boolean;
}

type Of<Type extends OperationEventBody["type"]> = Extract<OperationEvent, { type: Type }>;

/** Sign before a sentence of each severity. */
const signs = { info: "", warning: "! ", error: "x " } as const;

/**
 * Pattern of engine warnings that need no action of the user: the path of a plugin, and arguments
 * that the SDK sets.
 */
const noise = /^using pulumi-\S+ from \$PATH|property "useOctavia" is deprecated/;

/** Shows the events of an operation: its steps, the phases of its resources, and sentences. */
export class RunView {
  private readonly phases: PhaseView | undefined;
  private open: Open | undefined;
  /**
   * Times of the steps without phases. `before` and `after` are relative to the first step with
   * phases.
   */
  private readonly took: { readonly before: TimedPhase[]; readonly after: TimedPhase[] } = {
    before: [],
    after: [],
  };

  constructor(private readonly options: RunViewOptions) {
    const { direction } = options;
    this.phases = direction && new PhaseView({ ...options, direction });
  }

  processEvent(event: OperationEvent): void {
    switch (event.type) {
      case "queued":
        return;
      case "cluster":
        if (this.options.showsCluster !== false) this.note(renderClusterLine(event));
        return;
      case "step":
        this.step(event);
        return;
      case "diagnostic":
        this.diagnostic(event);
        return;
      case "log":
      case "machine":
      case "resource":
        this.work(event);
        return;
      case "done":
        this.fail(event);
    }
  }

  /** Returns the times of the phases, and of the steps without phases. */
  times(): TimedPhase[] {
    const { before, after } = this.took;
    return [...before, ...convertPhaseTimes(this.phases?.timeline.times() ?? []), ...after];
  }

  private step({ state, title, expectedSeconds, detail, outcome, at }: Of<"step">): void {
    const now = Date.parse(at);
    if (state === "begin") {
      const step = this.options.progress.step(title, expectedSeconds);
      this.open = { title, since: now, step, hasPhases: false };
    } else if (state === "progress") this.detail(detail);
    else if (this.open) {
      this.phases?.finish(outcome === "failed");
      this.record(this.open, now);
      // The event `done` has the error of a failed step.
      if (outcome === "failed") return;
      this.open.step.done();
      this.open = undefined;
    }
  }

  private record({ title, since, hasPhases }: Open, now: number): void {
    if (hasPhases) return;
    const isBefore = this.phases?.timeline.times().length === 0;
    this.took[isBefore ? "before" : "after"].push({ title, milliseconds: now - since });
  }

  private work(event: Of<"log" | "machine" | "resource">): void {
    if (event.type === "log" && event.urn === undefined) this.note(event.text);
    else if (this.phases) {
      if (this.phases.processEvent(event, Date.parse(event.at)) && this.open)
        this.open.hasPhases = true;
    } else if (event.type === "resource" && event.state === "started") this.detail(event.name);
  }

  private diagnostic({ severity, text, urn }: Of<"diagnostic">): void {
    if (noise.test(text)) return;
    const who = urn === undefined ? "" : `${parseUrn(urn).name}: `;
    this.note(`${signs[severity]}${who}${text}`);
  }

  /** Ends the step that failed. The steps of the phases already show the engine's error. */
  private fail({ error }: Of<"done">): void {
    if (!this.open) return;
    const { step, hasPhases } = this.open;
    this.open = undefined;
    const [first = ""] = (error?.message ?? "").split("\n");
    step.failed(hasPhases ? undefined : first);
  }

  private detail(text = ""): void {
    this.open?.step.update(text);
  }

  private note(text: string): void {
    this.options.progress.note(text);
  }
}

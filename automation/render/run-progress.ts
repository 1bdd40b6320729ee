import type { Progress, Step } from "../../base/progress.js";
import type { RunOptions, OperationStage } from "../engine/operation-options.js";
import type { Redactor } from "../pulumi/redact-secrets.js";
import { OperationView } from "./operation-progress.js";
import { timedPhases, type TimedPhase } from "./cluster-report.js";

export interface RunViewOptions {
  readonly progress: Progress;
  readonly redactor: Redactor;
  readonly direction: "up" | "destroy";
  readonly stack: string;
  /** Writes these fields as a line of JSON, for programs that read the output. */
  readonly emit: (fields: Readonly<Record<string, unknown>>) => void;
}

/** Title of a stage, and its usual duration in seconds, which was measured. */
type Words = readonly [title: string, seconds: number];

const words = (stage: OperationStage, { direction, stack }: RunViewOptions): Words => {
  switch (stage) {
    case "repair":
      return ["Delete what an interrupted run left", 10];
    case "preflight":
      return ["Check whether the cluster fits into the cloud", 3];
    case "operation":
      return direction === "up"
        ? [`Bring up the cluster '${stack}'`, 150]
        : [`Destroy the cluster '${stack}'`, 90];
    case "verification":
      return ["Verify the cluster from outside", 10];
    case "sweep":
      return ["Check that nothing is left in the project", 5];
  }
};

interface Open {
  readonly stage: OperationStage;
  readonly since: number;
  readonly step: Step;
}

/**
 * Shows the progress of a run. Each stage is a step. In the stage `operation`, each phase is also a
 * step.
 */
export class RunView {
  private readonly operation: OperationView;
  private readonly took = new Map<OperationStage, number>();
  private open: Open | undefined;

  constructor(private readonly options: RunViewOptions) {
    this.operation = new OperationView(options);
  }

  /** Calls `work` and shows its progress. */
  async show<T>(
    work: (listening: Pick<RunOptions, "onEvent" | "onNote" | "onStage">) => Promise<T>,
  ): Promise<T> {
    const { progress, redactor, emit } = this.options;
    try {
      const result = await work({
        onEvent: (event) => {
          emit({ type: "event", event });
          this.operation.take(event);
        },
        onNote: (text) => {
          progress.note(redactor.clean(text));
        },
        onStage: (stage, detail) => {
          this.enter(stage, detail);
        },
      });
      this.leave();
      return result;
    } catch (error) {
      this.leave(error);
      throw error;
    }
  }

  /** Returns the durations of the operation's phases and of the verification. */
  times(): TimedPhase[] {
    const milliseconds = this.took.get("verification");
    return [
      ...timedPhases(this.operation.timeline.times()),
      ...(milliseconds === undefined ? [] : [{ title: "Verification", milliseconds }]),
    ];
  }

  private enter(stage: OperationStage, detail?: string): void {
    if (this.open?.stage !== stage) {
      this.leave();
      const step = this.options.progress.step(...words(stage, this.options));
      this.open = { stage, since: Date.now(), step };
    }
    if (detail !== undefined) this.open.step.update(this.options.redactor.clean(detail));
  }

  private leave(error?: unknown): void {
    if (!this.open) return;
    const { stage, since, step } = this.open;
    this.open = undefined;
    this.took.set(stage, Date.now() - since);
    if (stage === "operation") this.operation.finish(error !== undefined);
    if (error === undefined) step.done();
    // Shows no error for the stage `operation`: the steps of its phases already show the engine's
    // error.
    else step.failed(stage === "operation" ? undefined : this.firstLine(error));
  }

  private firstLine(error: unknown): string {
    const [first = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    return this.options.redactor.clean(first);
  }
}

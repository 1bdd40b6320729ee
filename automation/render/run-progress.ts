import type { Progress, Step } from "../../base/progress.js";
import type { RunOptions, Stage } from "../engine/operation-options.js";
import type { Redactor } from "../../base/terminal/redact-secrets.js";
import { OperationView } from "./operation-progress.js";
import { timedPhases, type TimedPhase } from "./cluster-report.js";

export interface RunViewOptions {
  readonly progress: Progress;
  readonly redactor: Redactor;
  readonly direction: "up" | "destroy";
  readonly stack: string;
  /** Writes a JSON line, for programs. */
  readonly emit: (fields: Readonly<Record<string, unknown>>) => void;
}

/** Title of a stage, and the measured seconds that the stage takes. */
type Words = readonly [title: string, seconds: number];

const words = (stage: Stage, { direction, stack }: RunViewOptions): Words => {
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
  readonly stage: Stage;
  readonly since: number;
  readonly step: Step;
}

/**
 * Shows the progress of a run: a step for each stage. During the stage `operation`, a step for each
 * phase.
 */
export class RunView {
  private readonly operation: OperationView;
  private readonly took = new Map<Stage, number>();
  private open: Open | undefined;

  constructor(private readonly options: RunViewOptions) {
    this.operation = new OperationView(options);
  }

  /** Runs `work` and shows its progress. */
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

  /** Returns the times of the operation's phases and of the verification. */
  times(): TimedPhase[] {
    const milliseconds = this.took.get("verification");
    return [
      ...timedPhases(this.operation.timeline.times()),
      ...(milliseconds === undefined ? [] : [{ title: "Verification", milliseconds }]),
    ];
  }

  private enter(stage: Stage, detail?: string): void {
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
    // The steps of the phases already show the engine's error.
    else step.failed(stage === "operation" ? undefined : this.firstLine(error));
  }

  private firstLine(error: unknown): string {
    const [first = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    return this.options.redactor.clean(first);
  }
}

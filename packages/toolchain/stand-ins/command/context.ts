/** Context of an operation on one resource: its messages and its abort signal. */
import type { EngineLog, Severity } from "../plugin/engine-log.js";

export interface ResourceOperation {
  /**
   * Signal that is aborted when the engine cancels or the resource's time limit is reached. The
   * signal's reason is the error to report.
   */
  readonly signal: AbortSignal;
  /** Shows a line of progress while the resource is processed. */
  status(text: string): void;
  /** Reports a diagnostic that remains visible. */
  diagnostic(severity: Severity, text: string): void;
}

export function startOperation(
  log: EngineLog,
  urn: string,
  limits: { cancelled: AbortSignal; seconds: number },
): ResourceOperation & { end(): void } {
  const controller = new AbortController();
  const onCancel = (): void => {
    controller.abort(new Error("context canceled"));
  };
  if (limits.cancelled.aborted) onCancel();
  limits.cancelled.addEventListener("abort", onCancel);
  const timer =
    limits.seconds > 0
      ? setTimeout(() => {
          controller.abort(new Error("context deadline exceeded"));
        }, limits.seconds * 1000)
      : undefined;
  return {
    signal: controller.signal,
    status: (text) => {
      log.send({ severity: "info", text, urn, ephemeral: true });
    },
    diagnostic: (severity, text) => {
      log.send({ severity, text, urn });
    },
    end: () => {
      clearTimeout(timer);
      limits.cancelled.removeEventListener("abort", onCancel);
    },
  };
}

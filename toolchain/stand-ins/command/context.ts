/** What an operation on one resource has to know: where its messages go and when to give up. */
import type { EngineLog, Severity } from "../plugin/engine-log.js";

export interface Operation {
  /** Aborted by the engine's cancel or by the resource's time limit; its reason is the error to report. */
  readonly signal: AbortSignal;
  /** A line of progress: shown while the resource is worked on. */
  status(text: string): void;
  /** A diagnostic that stays. */
  diagnostic(severity: Severity, text: string): void;
}

export function operation(
  log: EngineLog,
  urn: string,
  limits: { cancelled: AbortSignal; seconds: number },
): Operation & { end(): void } {
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

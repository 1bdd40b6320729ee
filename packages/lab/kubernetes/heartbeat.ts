import type { Step } from "../../../base/progress.js";

export interface Heartbeat extends Pick<Step, "update"> {
  stop(): void;
}

/**
 * Passes updates on to the step. If no update came for `quietMs` (default 15 s), repeats the last
 * update with its age. For example, a linker prints nothing for a long time.
 */
export function startHeartbeat(step: Pick<Step, "update">, quietMs = 15_000): Heartbeat {
  let last = "working";
  let since = Date.now();
  let told = since;
  const timer = setInterval(
    () => {
      if (Date.now() - told < quietMs) return;
      told = Date.now();
      step.update(`${last} (${Math.round((told - since) / 1000)} s)`);
    },
    Math.max(10, quietMs / 3),
  );
  return {
    update: (detail) => {
      last = detail;
      since = told = Date.now();
      step.update(detail);
    },
    stop: () => {
      clearInterval(timer);
    },
  };
}

import type { Progress } from "../progress.js";

/**
 * Returns a Progress that writes one JSON object per line. The objects look like the events `step`
 * and `diagnostic` of an operation.
 */
export function createJsonProgress(
  write: (line: string) => void,
  now: () => number = Date.now,
): Progress {
  const say = (fields: Readonly<Record<string, unknown>>): void => {
    write(JSON.stringify({ at: new Date(now()).toISOString(), ...fields }));
  };
  return {
    step: (title, expectedSeconds) => {
      const since = now();
      say({ type: "step", state: "begin", title, expectedSeconds });
      const end = (outcome: "done" | "failed", detail?: string): void => {
        const seconds = (now() - since) / 1000;
        say({ type: "step", state: "end", title, detail, outcome, seconds });
      };
      return {
        update: (detail) => {
          say({ type: "step", state: "progress", title, detail });
        },
        done: (note) => {
          end("done", note);
        },
        failed: (note) => {
          end("failed", note);
        },
      };
    },
    note: (text) => {
      say({ type: "diagnostic", severity: "info", text });
    },
  };
}

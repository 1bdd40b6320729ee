import type { Progress } from "../../base/progress.js";

/** Returns a Progress that writes one JSON object per line, for example `{"type":"step", ...}`. */
export function jsonProgress(
  write: (line: string) => void,
  now: () => number = Date.now,
): Progress {
  let next = 0;
  const say = (fields: Readonly<Record<string, unknown>>): void => {
    write(JSON.stringify({ at: new Date(now()).toISOString(), ...fields }));
  };
  return {
    step: (title, expectedSeconds) => {
      const id = (next += 1);
      const since = now();
      say({ type: "step", id, state: "started", title, expectedSeconds });
      const end = (state: "done" | "failed", note?: string): void => {
        say({ type: "step", id, state, title, seconds: (now() - since) / 1000, note });
      };
      return {
        update: (detail) => {
          say({ type: "step", id, state: "running", title, detail });
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
      say({ type: "note", text });
    },
  };
}

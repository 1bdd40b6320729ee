import { execFileSync } from "node:child_process";

/** How far back a change counts. */
const recent = 20;

function git(root: string, words: readonly string[]): string {
  try {
    const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"];
    return execFileSync("git", words, { cwd: root, encoding: "utf8", stdio });
  } catch {
    // No history.
    return "";
  }
}

/** The files that the last commits changed, once for each that did; none where there is no history. */
export const changedFiles = (root: string): string[] =>
  git(root, ["log", "--name-only", "--format=", `--max-count=${String(recent)}`]).split("\n");

/** How many commits there were: none where there is no history. */
export const commitCount = (root: string): number =>
  Number(git(root, ["rev-list", "--count", "HEAD"]));

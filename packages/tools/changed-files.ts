import { execFileSync } from "node:child_process";

/** Number of recent commits to examine. */
const recent = 20;

function git(root: string, words: readonly string[]): string {
  try {
    const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"];
    return execFileSync("git", words, { cwd: root, encoding: "utf8", stdio });
  } catch {
    // No git repository or no history.
    return "";
  }
}

/**
 * Returns the files that the last commits changed. A file is listed once for each commit. Returns
 * an empty list without a git history.
 */
export const listRecentlyChangedFiles = (root: string): string[] =>
  git(root, ["log", "--name-only", "--format=", `--max-count=${String(recent)}`]).split("\n");

/** Returns the number of commits, or 0 without a history. */
export const countCommits = (root: string): number =>
  Number(git(root, ["rev-list", "--count", "HEAD"]));

import { getPackageRoot } from "../../base/paths.js";
import { silentProgress } from "../../base/progress.js";
import { labAdd } from "../../packages/lab/lab.js";
import { podNetworkOf } from "../support/config/pod-networks.js";
import { listRecentlyChangedFiles } from "../../packages/tools/changed-files.js";
import { writeReporterLine } from "../../packages/tools/json-lines-reporter.js";
import type { Stack } from "../lab/support/stack/stack.js";

/** Whether the run was started by `npm test examples -- --all`. */
export const everyExample = process.env["STACKADM_TEST_ALL"] === "1";

/** Feature that an example demonstrates. */
export interface Point {
  readonly text: string;
  /** Checks the feature; rejects if it does not work, and returns what was observed. */
  see(stack: Stack): Promise<string>;
}

/** Example of `examples/`, with all features that must work in it. */
export interface Example {
  /** Name of its folder, its stack and its cluster. */
  readonly name: string;
  /**
   * Creates its stack.
   * @default the stack of its stack file, with the lab's replacements of upstream
   */
  readonly make?: (name: string) => Stack;
  /** Paths that only this example covers: a change of them selects the example. */
  readonly sources: readonly string[];
  readonly points: readonly Point[];
}

/**
 * Returns all examples, or only the one with most recently changed files (the first example if none
 * has any).
 */
export function chosenExamples(
  all: readonly Example[],
  changed: readonly string[] = everyExample ? [] : listRecentlyChangedFiles(getPackageRoot()),
): readonly Example[] {
  if (everyExample) return all;
  const count = ({ sources }: Example): number =>
    changed.filter((file) => sources.some((source) => file.startsWith(source))).length;
  const [most] = all.toSorted((one, other) => count(other) - count(one));
  return most ? [most] : [];
}

/**
 * Returns the cluster with the newest manifest whose images the lab can build; the lab builds
 * everything else unchanged.
 */
export async function onLab(
  described: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  if (described["ingress"] !== undefined) await labAdd("traefik", { progress: silentProgress });
  const podNetwork = podNetworkOf(described["podNetwork"]);
  if (!("manifest" in podNetwork)) return described;
  const manifests = await labAdd("calico", { progress: silentProgress });
  return { ...described, podNetwork: { ...podNetwork, manifest: manifests[podNetwork.kind] } };
}

/** Prints a line of the table at the end of the run. */
export const evidence = (example: string, point: string, seen: string): void => {
  writeReporterLine({ type: "evidence", example, point, seen });
};

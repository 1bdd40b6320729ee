import { packageRoot } from "../../base/paths.js";
import { silent } from "../../base/progress.js";
import { labAdd } from "../../lab/lab.js";
import { podNetworkOf } from "../support/pod-networks.js";
import { changedFiles } from "../../tools/changed-files.js";
import { say } from "../../tools/line-reporter.js";
import type { Stack } from "../lab/support/stack.js";

/** Whether `npm test examples -- --all` was asked for. */
export const everyExample = process.env["STACKADM_TEST_ALL"] === "1";

/** Something that an example is there for. */
export interface Point {
  readonly text: string;
  /** Rejects when it is not so; answers what was seen. */
  see(stack: Stack): Promise<string>;
}

/** One of `examples/`, and all that has to work in it. */
export interface Example {
  /** Its folder, its stack and its cluster. */
  readonly name: string;
  /** Makes its stack. Default: as its stack file describes it, with what the lab has in place of upstream's. */
  readonly make?: (name: string) => Stack;
  /** What nobody else shows: a change of it lets this example run. */
  readonly sources: readonly string[];
  readonly points: readonly Point[];
}

/** All examples, or the one that was changed most of late: the first, when none was. */
export function chosenExamples(
  all: readonly Example[],
  changed: readonly string[] = everyExample ? [] : changedFiles(packageRoot()),
): readonly Example[] {
  if (everyExample) return all;
  const count = ({ sources }: Example): number =>
    changed.filter((file) => sources.some((source) => file.startsWith(source))).length;
  const [most] = all.toSorted((one, other) => count(other) - count(one));
  return most ? [most] : [];
}

/** The same cluster with what the lab has in place of upstream's: the newest manifest that it can build the images of. The rest it builds as it is. */
export async function onLab(
  described: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  if (described["ingress"] !== undefined) await labAdd("traefik", { progress: silent });
  const podNetwork = podNetworkOf(described["podNetwork"]);
  if (!("manifest" in podNetwork)) return described;
  const manifests = await labAdd("calico", { progress: silent });
  return { ...described, podNetwork: { ...podNetwork, manifest: manifests[podNetwork.kind] } };
}

/** For the table at the end of the run. */
export const evidence = (example: string, point: string, seen: string): void => {
  say({ type: "evidence", example, point, seen });
};

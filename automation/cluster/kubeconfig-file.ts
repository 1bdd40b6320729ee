import { existsSync, rmSync } from "node:fs";
import { writePrivate } from "../../base/files.js";
import { stateDirectory } from "../../base/paths.js";
import { readKubeAccess, type KubeAccess } from "../verify/kubernetes-api.js";
import type { StackOutputs } from "./state.js";
import type { UpOptions } from "./options.js";

interface Leading {
  readonly kubeconfig: string;
}

/** Whether both lead to the same cluster: by its own authority, by the address where one is not told. */
export function isSameCluster(one: Leading, other: Leading): boolean {
  const [a, b] = [one, other].map(({ kubeconfig }) => whereTo(kubeconfig));
  if (!a || !b) return false;
  return a.ca !== undefined && b.ca !== undefined ? a.ca === b.ca : a.server === b.server;
}

function whereTo(kubeconfig: string): KubeAccess | undefined {
  try {
    return readKubeAccess(kubeconfig);
  } catch {
    // Nothing that leads anywhere.
    return undefined;
  }
}

/** Where the administrator's kubeconfig of a stack lies. */
export const kubeconfigPath = (stack: string): string => stateDirectory(`kubeconfig-${stack}`);

/** Writes the kubeconfig, readable by its owner only from the first byte on. */
export function writeKubeconfig(stack: string, kubeconfig: string): string {
  const path = kubeconfigPath(stack);
  writePrivate(path, kubeconfig);
  return path;
}

/** Writes the kubeconfig among a stack's outputs, if there is one and it is wanted; answers its path. */
export function keepKubeconfig(
  stack: string,
  { kubeconfig }: StackOutputs,
  { kubeconfigFile = true }: UpOptions,
): string | undefined {
  const text = kubeconfig?.value;
  return kubeconfigFile && typeof text === "string" ? writeKubeconfig(stack, text) : undefined;
}

/** Removes it; answers whether there was one. */
export function removeKubeconfig(stack: string): boolean {
  const path = kubeconfigPath(stack);
  const there = existsSync(path);
  rmSync(path, { force: true });
  return there;
}

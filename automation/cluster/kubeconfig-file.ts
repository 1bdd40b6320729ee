import { existsSync, rmSync } from "node:fs";
import { writePrivate } from "../../base/files.js";
import { stateDirectory } from "../../base/paths.js";
import type { StackOutputs } from "./state.js";
import type { UpOptions } from "./options.js";

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

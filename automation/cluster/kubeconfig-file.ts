import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { stateDirectory } from "../../base/paths.js";

/** Where the administrator's kubeconfig of a stack lies. */
export const kubeconfigPath = (stack: string): string => stateDirectory(`kubeconfig-${stack}`);

/** Writes the kubeconfig, readable by its owner only from the first byte on. */
export function writeKubeconfig(stack: string, kubeconfig: string): string {
  const path = kubeconfigPath(stack);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  try {
    writeFileSync(next, kubeconfig, { mode: 0o600 });
    renameSync(next, path);
  } finally {
    rmSync(next, { force: true });
  }
  return path;
}

/** Removes it; answers whether there was one. */
export function removeKubeconfig(stack: string): boolean {
  const path = kubeconfigPath(stack);
  const there = existsSync(path);
  rmSync(path, { force: true });
  return there;
}

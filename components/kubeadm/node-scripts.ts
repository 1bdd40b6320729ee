import { readFileSync } from "node:fs";
import { join } from "node:path";

const read = (path: string): string => readFileSync(join(__dirname, path), "utf8");
const common = read("../support/scripts/common.sh");

export const initScripts = [common, read("scripts/init.sh")] as const;
export const joinScripts = [common, read("scripts/join.sh")] as const;
export const farewellScripts = [common, read("scripts/farewell.sh")] as const;
/** Installed on control planes by init.sh; hands out join tokens. */
export const mintScript = read("scripts/mint.sh");

/** What scripts/init.sh reads. */
export const initValues = [
  "NODE_NAME",
  "KUBEADM_CONFIG",
  "FROZEN",
  "JOIN_PUBLIC_KEY",
  "MINT_SCRIPT",
  "NODE_RANGE",
  "KUBELET",
] as const;
/** What scripts/join.sh reads. */
export const joinValues = [
  "NODE_NAME",
  "SERVER_ID",
  "KUBEADM_CONFIG",
  "CONTROL_PLANE_ADDRESS",
  "CONTROL_PLANE_HOST_KEY",
  "JOIN_PRIVATE_KEY",
  "KUBELET",
] as const;
/** What scripts/farewell.sh reads: nothing, it asks the cluster. */
export const farewellValues = [] as const;

import type { SupportRow, SupportSection } from "../row.js";
import {
  backupRows,
  endpointRows,
  lifecycleRows,
  loadBalancerRows,
  storageRows,
  topologyRows,
} from "./clusters.js";
import { cloudRows, machineRows } from "./machines.js";
import { networkRows, podNetworkRows, serviceProxyRows } from "./networks.js";
import {
  configurationRows,
  kubernetesRows,
  pulumiPluginRows,
  systemRows,
  type SystemRowId,
} from "./systems.js";

/** Tables of docs/reference/support-matrix.md, in their order. */
export const supportSections: readonly SupportSection[] = [
  {
    title: "Operating systems",
    intro:
      "The lab's machines run Debian 12. All packages come from the same apt repositories on each system. No Ubuntu machine was ever started: the Ubuntu rows name the tests that run only the scripts, with the content of Ubuntu's files. [What these tests cover](../set-up/operating-systems.md).",
    rows: systemRows,
  },
  { title: "Kubernetes and upgrades", rows: kubernetesRows },
  { title: "Topologies", rows: topologyRows },
  { title: "API endpoints", rows: endpointRows },
  { title: "Load balancers", rows: loadBalancerRows },
  { title: "Pod networks", rows: podNetworkRows },
  { title: "Service proxies", rows: serviceProxyRows },
  { title: "Network", rows: networkRows },
  { title: "Machines", rows: machineRows },
  { title: "Storage", rows: storageRows },
  { title: "Backup and restore", rows: backupRows },
  { title: "Cluster lifecycle", rows: lifecycleRows },
  { title: "Kubernetes configuration", rows: configurationRows },
  { title: "Clouds and credentials", rows: cloudRows },
  { title: "Pulumi plugins", rows: pulumiPluginRows },
];

/** Name of a row in the records. */
export type SupportRowId =
  | SystemRowId
  | keyof typeof backupRows
  | keyof typeof cloudRows
  | keyof typeof configurationRows
  | keyof typeof endpointRows
  | keyof typeof kubernetesRows
  | keyof typeof lifecycleRows
  | keyof typeof loadBalancerRows
  | keyof typeof machineRows
  | keyof typeof networkRows
  | keyof typeof podNetworkRows
  | keyof typeof pulumiPluginRows
  | keyof typeof serviceProxyRows
  | keyof typeof storageRows
  | keyof typeof topologyRows;

/** Every row by its name. */
export const supportRows = Object.assign(
  {},
  ...supportSections.map((section) => section.rows),
) as Readonly<Record<SupportRowId, SupportRow>>;

export const isSupportRow = (name: string): name is SupportRowId =>
  Object.hasOwn(supportRows, name);

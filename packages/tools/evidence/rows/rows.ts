import type { Row, Section } from "../row.js";
import { backups, endpoints, life, loadBalancers, storage, topologies } from "./clusters.js";
import { clouds, machines } from "./machines.js";
import { networks, podNetworks, serviceProxies } from "./networks.js";
import { configuration, kubernetes, pulumiPluginRows, systems, type SystemId } from "./systems.js";

/** Tables of docs/support-matrix.md, in their order. */
export const sections: readonly Section[] = [
  {
    title: "Operating systems",
    intro:
      "The lab's machines have Debian 12. All packages come by apt, from the same repositories on each system. No machine of Ubuntu was ever started: its rows say which tests run the scripts alone, on the content of Ubuntu's files. [What that covers, and what never ran](operations.md#ubuntu).",
    rows: systems,
  },
  { title: "Kubernetes and upgrades", rows: kubernetes },
  { title: "Topologies", rows: topologies },
  { title: "Endpoints of the API", rows: endpoints },
  { title: "Load balancers", rows: loadBalancers },
  { title: "Pod networks", rows: podNetworks },
  { title: "Service proxies", rows: serviceProxies },
  { title: "Network", rows: networks },
  { title: "Machines", rows: machines },
  { title: "Storage", rows: storage },
  { title: "Backup and restore", rows: backups },
  { title: "A cluster's life", rows: life },
  { title: "Configuration of Kubernetes", rows: configuration },
  { title: "Clouds and credentials", rows: clouds },
  { title: "Pulumi's parts", rows: pulumiPluginRows },
];

/** Name of a row in the records. */
export type RowId =
  | SystemId
  | keyof typeof backups
  | keyof typeof clouds
  | keyof typeof configuration
  | keyof typeof endpoints
  | keyof typeof kubernetes
  | keyof typeof life
  | keyof typeof loadBalancers
  | keyof typeof machines
  | keyof typeof networks
  | keyof typeof podNetworks
  | keyof typeof pulumiPluginRows
  | keyof typeof serviceProxies
  | keyof typeof storage
  | keyof typeof topologies;

/** Every row by its name. */
export const rows = Object.assign({}, ...sections.map((section) => section.rows)) as Readonly<
  Record<RowId, Row>
>;

export const isRow = (name: string): name is RowId => Object.hasOwn(rows, name);

import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { stringify } from "yaml";
import {
  createClusterService,
  type ClusterService,
} from "../../../automation/cluster/cluster-service.js";
import type { ClusterEvent } from "../../../automation/cluster/events.js";
import {
  prepareEnvironment,
  type OperationEnvironment,
} from "../../../automation/setup/environment.js";
import { openstackPlugins } from "../../../base/openstack-plugins.js";
import { silent } from "../../../base/progress.js";
import { connectCloud, type CloudClient } from "../../../cloud/client.js";
import { labUp, type LabFacts } from "../../../lab/lab.js";
import { labSettings, type LabSettings } from "../../../lab/settings.js";
import { packageRoot } from "../../../base/paths.js";
import type { Fields } from "../../../components/spec/defaults.js";
import { noteSetup } from "../../support/evidence.js";
import { setupOf } from "./setup.js";

/** A stack on the lab with a backend of its own, and what a test wants to know of its operations. */
export interface LabCluster {
  readonly name: string;
  readonly service: ClusterService;
  readonly environment: OperationEnvironment;
  readonly cloud: CloudClient;
  /** `Pulumi.<name>.yaml`, for plain pulumi. */
  readonly stackFile: string;
  /** The stack file's text: the cluster as it is described, with changes. */
  settings(changes?: Readonly<Record<string, unknown>>): string;
  /** Every event and line so far, for scans. */
  readonly seen: { readonly events: ClusterEvent[]; readonly lines: string[] };
  /** Options that record into `seen`. */
  recording(): { onEvent: (event: ClusterEvent) => void; onNote: (line: string) => void };
  close(): Promise<void>;
}

/** By what a cluster is made: one of the lab's entries in clouds.yaml, and the defaults of the site. */
export interface LabAccess {
  readonly cloud: string;
  readonly siteFile: string;
}

/** Which of the lab's entries in clouds.yaml a cluster is made by; with the lab's own site where none is named. */
export type CloudOf = (facts: LabFacts) => string | LabAccess;

/** The environment that selects the lab, whatever cloud the caller's environment names. */
async function labEnvironment(cloudOf: CloudOf): Promise<NodeJS.ProcessEnv> {
  const facts = await labUp({ progress: silent });
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith("OS_"));
  const chosen = cloudOf(facts);
  const { cloud, siteFile } =
    typeof chosen === "string" ? { cloud: chosen, siteFile: facts.siteFile } : chosen;
  const env = { ...Object.fromEntries(others), OS_CLOUD: cloud };
  return { ...env, OS_CLIENT_CONFIG_FILE: facts.cloudsFile, STACKADM_SITE: siteFile };
}

/** What lies in the directory of a stack. */
export interface LabProject {
  /** Writes all but the stack file. */
  readonly prepare: (directory: string) => void | Promise<void>;
  /** What the stack file configures. */
  readonly config: (
    changes: Readonly<Record<string, unknown>>,
  ) => Readonly<Record<string, unknown>>;
  /** The cluster's arguments as far as records name them, where a program of the stack's own has them. Default: `stackadm:cluster` of `config`. */
  readonly described?: Readonly<Record<string, unknown>>;
}

/** The OpenStack plugin that STACKADM_TEST_OPENSTACK names. Default: the program's choice. */
const openstackPlugin = openstackPlugins.find(
  (version) => version === process.env["STACKADM_TEST_OPENSTACK"],
);

/** A stack of the program: `described` is its cluster. */
const ownProject = (described: Readonly<Record<string, unknown>>): LabProject => ({
  prepare: (directory) => {
    copyFileSync(join(packageRoot(), "Pulumi.yaml"), join(directory, "Pulumi.yaml"));
  },
  config: (changes) => ({
    "stackadm:cluster": { ...described, ...(openstackPlugin && { openstackPlugin }), ...changes },
  }),
});

/** Prepares a cluster called `name`, of the dev stack's machines or as it is described; nothing is made yet. */
export async function labCluster(
  name: string,
  described: Readonly<Record<string, unknown>> = devCluster(name),
  project: LabProject = ownProject(described),
  cloudOf: CloudOf = ({ cloud }) => cloud,
): Promise<LabCluster> {
  const directory = mkdtempSync(join(tmpdir(), `stackadm-${name}-`));
  const backend = pathToFileURL(directory).href;
  const env = { ...(await labEnvironment(cloudOf)), PULUMI_BACKEND_URL: backend };
  const environment = await prepareEnvironment({ progress: silent, env, openstackPlugin });
  let config: Fields = {};
  const settings: LabCluster["settings"] = (changes = {}) => {
    config = project.config(changes);
    return stringify({ config });
  };
  await project.prepare(directory);
  const stackFile = join(directory, `Pulumi.${name}.yaml`);
  writeFileSync(stackFile, settings());
  const service = createClusterService({
    env: environment.env,
    backend,
    projectDirectory: directory,
  });
  const cloud = await connectCloud({ env: environment.env });
  const seen: LabCluster["seen"] = { events: [], lines: [] };
  const forget = noteSetup(() =>
    setupOf(project.described ?? (config["stackadm:cluster"] as Fields), environment, cloud),
  );
  return {
    name,
    service,
    environment,
    cloud,
    stackFile,
    seen,
    settings,
    recording: () => ({
      onEvent: (event) => seen.events.push(event),
      onNote: (line) => seen.lines.push(line),
    }),
    close: async () => {
      forget();
      await environment.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The lab's own networks: from there the host reaches what is made. */
const networksOf = ({ management, external, services }: LabSettings): string[] =>
  [management, external, services].map(({ cidr }) => cidr);

const devCluster = (name: string): Record<string, unknown> => ({
  name,
  image: "debian-12",
  externalNetwork: "public",
  allowedCidrs: networksOf(labSettings()),
  controlPlane: { flavor: "k8s-control-plane" },
  workers: { general: { flavor: "k8s-worker", count: 2 } },
  zones: ["zone-a", "zone-b"],
  samples: true,
});

/** The URN rows that an operation showed: what is made, by name and type. */
export function rows(events: readonly ClusterEvent[]): string[] {
  const shown = events.flatMap((event) =>
    event.type === "started" || event.type === "finished"
      ? [`${event.change.type} ${event.change.name}`]
      : [],
  );
  return [...new Set(shown)].sort();
}

/** How many of each operation the engine counted, without the unchanged. */
export function changes(events: readonly ClusterEvent[]): Record<string, number> {
  const summary = events.findLast((event) => event.type === "summary");
  const counted = Object.entries(summary?.type === "summary" ? summary.changes : {});
  return Object.fromEntries(counted.filter(([operation]) => operation !== "same"));
}

/** What a person reads of an operation: the running commands' lines and the engine's messages. */
export function linesOf(events: readonly ClusterEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "log" || event.type === "message" ? [event.text] : [],
  );
}

export { packageRoot };

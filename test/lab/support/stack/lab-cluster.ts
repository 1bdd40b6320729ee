import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { stringify } from "yaml";
import {
  createListeningService,
  type Listening,
  type ListeningService,
} from "../../../support/engine/listening-service.js";
import type { OperationEvent } from "../../../../automation/engine/operation-events.js";
import {
  prepareEnvironment,
  type OperationEnvironment,
} from "../../../../automation/setup/operation-environment.js";
import {
  openstackPluginVersions,
  type PulumiOpenstackVersion,
} from "../../../../base/versions/pulumi-openstack-versions.js";
import { silentProgress } from "../../../../base/progress.js";
import { connectCloud, type CloudClient } from "../../../../openstack/client/cloud-client.js";
import { labUp, type LabFacts } from "../../../../packages/lab/lab.js";
import { readLabSettings, type LabSettings } from "../../../../packages/lab/settings.js";
import { getPackageRoot } from "../../../../base/paths.js";
import type { PlainObject } from "../../../../components/schema/merge-defaults.js";
import { noteSetup } from "../../../support/evidence.js";
import { explainFailures } from "../network/describe-network.js";
import { setupOf } from "./setup.js";

/** Stack on the lab with a separate backend, and records of its operations. */
export interface LabCluster {
  readonly name: string;
  readonly service: ListeningService;
  readonly environment: OperationEnvironment;
  readonly cloud: CloudClient;
  /** Path of `Pulumi.<name>.yaml`, for tests that run `pulumi` directly. */
  readonly stackFile: string;
  /** Returns the text of the stack file. `changes` replaces settings of the cluster. */
  settings(changes?: Readonly<Record<string, unknown>>): string;
  /** All events and output lines until now. */
  readonly seen: { readonly events: OperationEvent[]; readonly lines: string[] };
  /** Returns options for an operation that record its events and lines in `seen`. */
  recording(): Required<Pick<Listening, "onEvent" | "onNote">>;
  close(): Promise<void>;
}

/**
 * Cloud of a cluster: the name of one of the lab's entries in clouds.yaml, and the path of a file
 * with site defaults.
 */
export interface LabAccess {
  readonly cloud: string;
  readonly siteFile: string;
}

/**
 * Function that returns the cloud of a cluster. If it returns only a name, the lab's file of site
 * defaults is used.
 */
export type CloudOf = (facts: LabFacts) => string | LabAccess;

/** Returns an environment that selects the lab instead of the cloud of the caller's environment. */
async function labEnvironment(cloudOf: CloudOf): Promise<NodeJS.ProcessEnv> {
  const facts = await labUp({ progress: silentProgress });
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith("OS_"));
  const chosen = cloudOf(facts);
  const { cloud, siteFile } =
    typeof chosen === "string" ? { cloud: chosen, siteFile: facts.siteFile } : chosen;
  const env = { ...Object.fromEntries(others), OS_CLOUD: cloud };
  return { ...env, OS_CLIENT_CONFIG_FILE: facts.cloudsFile, STACKADM_SITE: siteFile };
}

/** Content of a stack's directory. */
export interface LabProject {
  /** Writes all files except the stack file. */
  readonly prepare: (directory: string) => void | Promise<void>;
  /** Returns the configuration in the stack file. */
  readonly config: (
    changes: Readonly<Record<string, unknown>>,
  ) => Readonly<Record<string, unknown>>;
  /**
   * Arguments of the cluster in evidence records. Only needed if the stack has a separate program.
   * @default `stackadm:cluster` of `config`
   */
  readonly described?: Readonly<Record<string, unknown>>;
}

/**
 * Returns the version of the OpenStack plugin in STACKADM_TEST_OPENSTACK. Undefined means the
 * default version of the program.
 */
function chosenPlugin(): PulumiOpenstackVersion | undefined {
  const named = process.env["STACKADM_TEST_OPENSTACK"];
  const chosen = openstackPluginVersions.find((version) => version === named);
  if (named !== undefined && !chosen)
    throw new Error(
      `STACKADM_TEST_OPENSTACK=${named}: write ${openstackPluginVersions.join(" or ")}`,
    );
  return chosen;
}

const openstackPlugin = chosenPlugin();

/** Returns a project that runs this repository's program, with `described` as its cluster. */
const ownProject = (described: Readonly<Record<string, unknown>>): LabProject => ({
  prepare: (directory) => {
    copyFileSync(join(getPackageRoot(), "Pulumi.yaml"), join(directory, "Pulumi.yaml"));
  },
  config: (changes) => ({
    "stackadm:cluster": { ...described, ...(openstackPlugin && { openstackPlugin }), ...changes },
  }),
});

/**
 * Prepares the stack of a cluster with this name. By default, the cluster has the machines of the
 * dev stack. Creates nothing in the cloud.
 */
export async function labCluster(
  name: string,
  described: Readonly<Record<string, unknown>> = devCluster(name),
  project: LabProject = ownProject(described),
  cloudOf: CloudOf = ({ cloud }) => cloud,
): Promise<LabCluster> {
  const directory = mkdtempSync(join(tmpdir(), `stackadm-${name}-`));
  const backend = pathToFileURL(directory).href;
  const env = {
    ...(await labEnvironment(cloudOf)),
    PULUMI_BACKEND_URL: backend,
    PULUMI_CONFIG_PASSPHRASE: "lab-tests",
    // The developer may be logged in with `pulumi login`.
    PULUMI_CREDENTIALS_PATH: directory,
  };
  const environment = await prepareEnvironment({ progress: silentProgress, env, openstackPlugin });
  let config: PlainObject = {};
  const settings: LabCluster["settings"] = (changes = {}) => {
    config = project.config(changes);
    return stringify({ config });
  };
  await project.prepare(directory);
  const stackFile = join(directory, `Pulumi.${name}.yaml`);
  writeFileSync(stackFile, settings());
  const cloud = await connectCloud({ env: environment.env });
  const options = { env: environment.env, backend, projectDirectory: directory };
  const service = explainFailures(createListeningService(options), cloud, name);
  const seen: LabCluster["seen"] = { events: [], lines: [] };
  const forget = noteSetup(() =>
    setupOf(project.described ?? (config["stackadm:cluster"] as PlainObject), environment, cloud),
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

/**
 * Returns the lab's own networks. The host has an address in each of them, from which it reaches
 * the machines.
 */
export const listLabNetworks = ({ management, external, services }: LabSettings): string[] =>
  [management, external, services].map(({ cidr }) => cidr);

const devCluster = (name: string): Record<string, unknown> => ({
  name,
  image: "debian-12",
  externalNetwork: "public",
  allowedCidrs: listLabNetworks(readLabSettings()),
  controlPlane: { flavor: "k8s-control-plane" },
  workers: { general: { flavor: "k8s-worker", count: 2 } },
  zones: ["zone-a", "zone-b"],
  samples: true,
});

/** Returns the resources of an operation as `<type> <name>`, sorted. */
export function rows(events: readonly OperationEvent[]): string[] {
  const shown = events.flatMap((event) =>
    event.type === "resource" && (event.state === "started" || event.state === "finished")
      ? [`${event.kind} ${event.name}`]
      : [],
  );
  return [...new Set(shown)].sort();
}

/** Returns how many resources started each kind of change. */
export function changes(events: readonly OperationEvent[]): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const event of events)
    if (event.type === "resource" && event.state === "started")
      counted[event.change] = (counted[event.change] ?? 0) + 1;
  return counted;
}

/** Returns the lines that a user reads: output of running commands, and messages of the engine. */
export function linesOf(events: readonly OperationEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "log" || event.type === "diagnostic" ? [event.text] : [],
  );
}

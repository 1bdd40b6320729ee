import { delimiter, join, resolve } from "node:path";
import { chmodSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import type { PulumiFn, Stack } from "@pulumi/pulumi/automation/index.js";
import { selectKubernetesPlugin } from "../../builds.js";

const root = resolve(__dirname, "../../../..");

/**
 * Options of the Pulumi program in the Kubernetes tests. The options are plain values, because they
 * are also passed to another process.
 */
export interface ProgramOptions {
  readonly kubeconfig: string;
  /** Value of the key `password` in the Secret. */
  readonly password: string;
  readonly data?: string;
  readonly name?: string;
  readonly replicas?: number;
  /** Timeout for the creation of the Deployment. */
  readonly timeout?: string;
  /** Whether the kubeconfig is unknown until another resource exists. Default: false. */
  readonly unknown?: boolean;
}

/** Returns the kubeconfig as an output that is unknown until an object exists in the cluster. */
function late(text: string): pulumi.Output<string> {
  const first = new kubernetes.Provider("first", { kubeconfig: text, clusterIdentifier: "fake" });
  const metadata = { name: "first", namespace: "default" };
  const carrier = new kubernetes.core.v1.ConfigMap("first", { metadata }, { provider: first });
  return pulumi.interpolate`${text} # ${carrier.id}`;
}

export const programOf =
  (options: ProgramOptions): PulumiFn =>
  () => {
    const { kubeconfig: text } = options;
    const kubeconfig = pulumi.secret(options.unknown ? late(text) : text);
    const provider = new kubernetes.Provider("k8s", {
      kubeconfig,
      clusterIdentifier: "fake",
      // components/addons/addons.ts sets the same option. Without it, plugins before 4.29 behave
      // differently.
      upsertExistingObjects: true,
    });
    const namespace = new kubernetes.core.v1.Namespace(
      "ns",
      { metadata: { name: "demo" } },
      { provider },
    );
    const within = { provider, dependsOn: [namespace] };
    const metadata = { namespace: namespace.metadata.name };
    new kubernetes.core.v1.ConfigMap(
      "settings",
      {
        metadata: { ...metadata, name: options.name ?? "settings" },
        data: { a: options.data ?? "1" },
      },
      within,
    );
    new kubernetes.core.v1.ConfigMap("unnamed", { metadata, data: {} }, within);
    new kubernetes.core.v1.Secret(
      "password",
      {
        metadata: { ...metadata, name: "password" },
        stringData: { p: pulumi.secret(options.password) },
      },
      within,
    );
    const labels = { app: "web" };
    const web = new kubernetes.apps.v1.Deployment(
      "web",
      {
        metadata: { ...metadata, name: "web" },
        spec: {
          replicas: options.replicas ?? 1,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "x" }] } },
        },
      },
      { ...within, customTimeouts: { create: options.timeout ?? "60s" } },
    );
    return Promise.resolve({ uid: web.metadata.uid });
  };

/**
 * Writes an executable through which the engine finds the stand-in. The executable runs the
 * stand-in from its sources. Does nothing if the built plugin is selected, because this plugin is
 * already in PATH.
 */
export function writePlugin(directory: string): void {
  if (selectKubernetesPlugin(process.env) === "built") return;
  const plugin = join(directory, "pulumi-resource-kubernetes");
  const loader = pathToFileURL(require.resolve("tsx")).href;
  const main = join(root, "packages/toolchain/stand-ins/kubernetes/main.ts");
  const start = `exec "${process.execPath}" --import "${loader}" "${main}" "$@"`;
  writeFileSync(plugin, `#!/bin/sh\n${start}\n`);
  chmodSync(plugin, 0o755);
}

/** Opens a stack. The state, Pulumi's home directory and the plugin are in `directory`. */
export const openStack = (directory: string, options: ProgramOptions): Promise<Stack> =>
  LocalWorkspace.createOrSelectStack(
    { stackName: "test", projectName: "stand-in", program: programOf(options) },
    {
      workDir: directory,
      envVars: {
        PULUMI_BACKEND_URL: pathToFileURL(directory).href,
        PULUMI_HOME: join(directory, "home"),
        PULUMI_CONFIG_PASSPHRASE: "test",
        PULUMI_SKIP_UPDATE_CHECK: "true",
        PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
        PATH: [directory, process.env["PATH"]].join(delimiter),
      },
      projectSettings: { name: "stand-in", runtime: "nodejs", main: root },
    },
  );

/**
 * Runs one `up`. A test can also run this file as a separate process, in order to kill the `up`.
 * The arguments are the directory, and the options as JSON.
 */
async function main(directory: string, options: string): Promise<void> {
  const stack = await openStack(directory, JSON.parse(options) as ProgramOptions);
  await stack.up();
}

const [, script, directory, options] = process.argv;
if (script === __filename && directory !== undefined && options !== undefined) {
  main(directory, options).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  });
}

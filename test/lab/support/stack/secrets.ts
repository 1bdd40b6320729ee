import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { run } from "../../../../base/run-command.js";
import { prepareWorkDirectory } from "../../../../automation/pulumi/workspace.js";
import { getStatePath } from "../../../../base/paths.js";
import type { LabCluster } from "./lab-cluster.js";

interface CloudsFile {
  readonly clouds: Readonly<Record<string, { readonly auth: { readonly password: string } }>>;
}

/** Resource of a state whose secrets are decrypted. */
export interface OpenedResource {
  readonly type: string;
  readonly urn: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

/** Secret in a state that was exported with decrypted secrets. */
interface Opened {
  readonly plaintext?: string;
}

/** Returns the password of the user in the lab's cloud. */
export function operatorPassword(): string {
  const clouds = parse(readFileSync(getStatePath("lab", "clouds.yaml"), "utf8")) as CloudsFile;
  return clouds.clouds["stackadm-lab"]?.auth.password ?? "";
}

/** Returns all secrets of the cluster, keyed by a description. */
export async function secretsOf(
  cluster: LabCluster,
  more: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const outputs = await cluster.service.outputs(cluster.name);
  const kubeconfig = String(outputs["kubeconfig"]);
  const inState = (await openedState(cluster)).flatMap(secretsOfResource);
  return {
    ...more,
    "the cloud's password": operatorPassword(),
    "the administrator's client key": /client-key-data: (\S+)/.exec(kubeconfig)?.[1] ?? "",
    ...Object.fromEntries(inState),
  };
}

/** Returns the stack's resources with decrypted secrets. Only this process sees the secrets. */
export async function openedState(cluster: LabCluster): Promise<OpenedResource[]> {
  const { env, backend } = cluster.environment;
  const workspace = prepareWorkDirectory({
    stack: cluster.name,
    settings: cluster.settings(),
    backend,
  });
  const { stdout } = await run(
    "pulumi",
    ["stack", "export", "--show-secrets", "--stack", cluster.name],
    {
      cwd: workspace.directory,
      env,
    },
  );
  return resourcesIn(stdout);
}

/** Returns the resources of an exported state. */
export const resourcesIn = (exported: string): OpenedResource[] =>
  (JSON.parse(exported) as { deployment: { resources: OpenedResource[] } }).deployment.resources;

/** Returns the plain value of a decrypted secret. Returns other values unchanged. */
export function revealed(value: unknown): unknown {
  const { plaintext } = (value ?? {}) as Opened;
  return plaintext === undefined ? value : JSON.parse(plaintext);
}

function secretsOfResource({ type, urn, outputs = {} }: OpenedResource): [string, string][] {
  const name = urn.split("::").at(-1) ?? urn;
  const reveal = (key: string): string => {
    const plaintext = (outputs[key] as Opened | undefined)?.plaintext;
    return plaintext === undefined ? "" : String(JSON.parse(plaintext)).trim();
  };
  if (type.includes("ApplicationCredential"))
    return [["the application credential's secret", reveal("secret")]];
  // A local command whose output is not secret creates the cluster's identity.
  if (type === "command:local:Command" && reveal("stdout") !== "")
    return [["the seed of the host keys", reveal("stdout")]];
  if (type !== "command:remote:Command") return [];
  const token = /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/.exec(reveal("stdout"))?.[0];
  return token === undefined ? [] : [[`the bootstrap token of ${name}`, token]];
}

import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { run } from "../../../base/run.js";
import { prepareWorkspace } from "../../../automation/cluster/workspace.js";
import { stateDirectory } from "../../../base/paths.js";
import type { LabCluster } from "./lab-cluster.js";

interface CloudsFile {
  readonly clouds: Readonly<Record<string, { readonly auth: { readonly password: string } }>>;
}

interface Resource {
  readonly type: string;
  readonly urn: string;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

/** What a secret looks like in a state that was exported in clear. */
interface Opened {
  readonly plaintext?: string;
}

/** Everything secret that the cluster knows, by a name for people. */
export async function secretsOf(
  cluster: LabCluster,
  more: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const clouds = parse(readFileSync(stateDirectory("lab", "clouds.yaml"), "utf8")) as CloudsFile;
  const outputs = await cluster.service.outputs(cluster.name);
  const kubeconfig = String(outputs["kubeconfig"]);
  const inState = (await openedState(cluster)).flatMap(secretsOfResource);
  return {
    ...more,
    "the cloud's password": clouds.clouds["stackadm-lab"]?.auth.password ?? "",
    "the administrator's client key": /client-key-data: (\S+)/.exec(kubeconfig)?.[1] ?? "",
    ...Object.fromEntries(inState),
  };
}

/** The stack's resources with the secrets in clear: only in this process. */
async function openedState(cluster: LabCluster): Promise<Resource[]> {
  const { env, backend } = cluster.environment;
  const workspace = prepareWorkspace({
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
  return (JSON.parse(stdout) as { deployment: { resources: Resource[] } }).deployment.resources;
}

function secretsOfResource({ type, urn, outputs = {} }: Resource): [string, string][] {
  const name = urn.split("::").at(-1) ?? urn;
  const reveal = (key: string): string => {
    const plaintext = (outputs[key] as Opened | undefined)?.plaintext;
    return plaintext === undefined ? "" : String(JSON.parse(plaintext)).trim();
  };
  if (type.includes("ApplicationCredential"))
    return [["the application credential's secret", reveal("secret")]];
  // The other local command makes the identity, which is no secret.
  if (type === "command:local:Command" && reveal("stdout") !== "")
    return [["the seed of the host keys", reveal("stdout")]];
  if (type !== "command:remote:Command") return [];
  const token = /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/.exec(reveal("stdout"))?.[0];
  return token === undefined ? [] : [[`the bootstrap token of ${name}`, token]];
}

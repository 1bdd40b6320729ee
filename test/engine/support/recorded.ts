import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { FakeCloud } from "../../support/cloud/fake-openstack.js";
import type { RecordedCluster } from "../../support/engine/recorded-cluster.js";
import { Project, succeeded } from "./project.js";

const ownComponents = resolve(__dirname, "../../../components");

const programOf = (components: string): string => `
import { Cluster } from ${JSON.stringify(join(components, "index.ts"))};
import { refuseClusterRename } from ${JSON.stringify(join(components, "refuse-cluster-rename.ts"))};
export = async () => {
  const name = process.env.NAME ?? "dev";
  await refuseClusterRename(name, "Pulumi.dev.yaml");
  return { identity: new Cluster(name, JSON.parse(process.env.CLUSTER ?? "")).identity };
};
`;

export interface Preview {
  readonly steps: readonly { readonly op: string; readonly urn: string }[];
  readonly changeSummary: Readonly<Record<string, number | undefined>>;
}

export interface State {
  readonly deployment: { readonly resources: readonly { readonly urn: string }[] };
}

/** Converts a state recorded in another project to this project, with this project's encryption. */
function ofProject(state: string, { directory }: Project): State {
  const text = state
    .replaceAll("::stackadm::", "::engine::")
    .replaceAll("::stackadm-dev", "::engine-dev");
  const settings = readFileSync(join(directory, "Pulumi.dev.yaml"), "utf8");
  const salt = /^encryptionsalt: (\S+)$/m.exec(settings)?.[1];
  assert.ok(salt !== undefined, settings);
  const { deployment, ...rest } = JSON.parse(text) as State;
  const keeper = { secrets_providers: { type: "passphrase", state: { salt } } };
  return { ...rest, deployment: { ...deployment, ...keeper } };
}

/**
 * Returns a project whose stack contains a recorded cluster.
 *
 * @param components folder of the release that the project uses. Default: the folder of this
 * checkout
 */
export async function holding(
  recorded: string,
  cloud: FakeCloud,
  components = ownComponents,
): Promise<{ readonly project: Project; readonly held: State }> {
  const environment = cloud.environment() as Record<string, string>;
  const project = await Project.create({
    program: programOf(components),
    file: "index.ts",
    environment,
  });
  const held = ofProject(recorded, project);
  project.write("state.json", JSON.stringify(held));
  succeeded(await project.run("stack", "import", "--file", "state.json"));
  return { project, held };
}

/** Returns the preview of the cluster with these arguments. */
export async function previewOf(
  project: Project,
  { args, cloud }: RecordedCluster,
): Promise<Preview> {
  project.environment["CLUSTER"] = JSON.stringify({ ...args, cloud });
  const output = succeeded(await project.run("preview", "--non-interactive", "--json"));
  return JSON.parse(output.slice(output.indexOf("{"))) as Preview;
}

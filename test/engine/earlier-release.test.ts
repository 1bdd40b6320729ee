import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { startFakeCloud, type FakeCloud } from "../support/fake-openstack.js";
import { recordedStates } from "../support/recorded-cluster.js";
import { Project, succeeded } from "./support/project.js";

const components = resolve(__dirname, "../../components");
const program = `
import { Cluster } from ${JSON.stringify(join(components, "index.ts"))};
import { requireSameCluster } from ${JSON.stringify(join(components, "same-cluster.ts"))};
export = async () => {
  const name = process.env.NAME ?? "dev";
  await requireSameCluster(name, "Pulumi.dev.yaml");
  return { identity: new Cluster(name, JSON.parse(process.env.CLUSTER ?? "")).identity };
};
`;

interface Preview {
  readonly steps: readonly { readonly op: string; readonly urn: string }[];
  readonly changeSummary: Readonly<Record<string, number | undefined>>;
}

interface State {
  readonly deployment: { readonly resources: readonly { readonly urn: string }[] };
}

const isComponent = ({ urn }: { readonly urn: string }): boolean =>
  /\bstackadm:\w+:\w+$/.test(urn.split("::")[2] ?? "");

/** What was recorded in another project, with this one's way to keep secrets. */
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

for (const { release, state, args, cloud } of recordedStates()) {
  describe(`a cluster of the release ${release}`, function () {
    this.timeout(600_000);
    let openstack: FakeCloud;
    let project: Project;
    let held: State;

    before(async () => {
      openstack = await startFakeCloud();
      const environment = openstack.environment() as Record<string, string>;
      project = await Project.create({ program, file: "index.ts", environment });
      held = ofProject(state, project);
      project.write("state.json", JSON.stringify(held));
      succeeded(await project.run("stack", "import", "--file", "state.json"));
    });
    after(async () => {
      project.remove();
      await openstack.close();
    });

    const preview = async (): Promise<Preview> => {
      project.environment["CLUSTER"] = JSON.stringify({ ...args, cloud });
      const output = succeeded(await project.run("preview", "--non-interactive", "--json"));
      return JSON.parse(output.slice(output.indexOf("{"))) as Preview;
    };

    it("is kept: nothing is replaced or deleted, and no frozen value stops it", async () => {
      const { steps, changeSummary } = await preview();
      const lost = steps.filter(({ op }) => !["same", "create", "update"].includes(op));
      // A component is nothing outside of the state: it may come and go.
      const [components, others] = [
        lost.filter(isComponent),
        lost.filter((one) => !isComponent(one)),
      ];
      assert.deepEqual(
        others.map(({ op, urn }) => `${op} ${urn}`),
        [],
      );
      const { same = 0, update = 0 } = changeSummary;
      const counted = held.deployment.resources.filter(({ urn }) => !/::default_\d/.test(urn));
      assert.equal(same + update + components.length, counted.length);
    });

    it("is not made anew for another name", async () => {
      project.environment["NAME"] = "other";
      const { code, output } = await project.run("preview", "--non-interactive");
      assert.notEqual(code, 0);
      assert.match(output, /cluster\.name: dev cannot become other while the cluster lives/);
    });
  });
}

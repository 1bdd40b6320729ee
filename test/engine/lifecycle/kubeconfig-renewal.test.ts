import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { Project, succeeded } from "../support/project.js";

const components = resolve(__dirname, "../../../components");
const at = (file: string): string => JSON.stringify(join(components, file));

/**
 * Program with the parts of a cluster that renew the kubeconfig: a machine's script and the
 * component that records the validity. The script prints TO, the end of the kubeconfig on the
 * machine.
 */
const program = `
import * as command from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { readKubeconfigRenewal } from ${at("identity/kubeconfig-renewal.ts")};
import { Component } from ${at("pulumi/component.ts")};

class Readiness extends Component {
  constructor(name: string) {
    super("stackadm:kubeadm:Readiness", name);
    const renewal = pulumi.output(readKubeconfigRenewal(name));
    const script = this.make(command.local.Command, "init", {
      create: pulumi.interpolate\`echo $TO # \${renewal}\`, addPreviousOutputInEnv: false,
    });
    const kubeconfigValidity = script.stdout.apply((to) => ({ from: "2026-01-01T00:00:00Z", to }));
    this.registerOutputs({ kubeconfigValidity, kubeconfigRenewal: renewal });
  }
}
new Readiness("dev-readiness");
`;

describe("the kubeconfig of a cluster, with plain `pulumi up`", function () {
  this.timeout(600_000);
  let project: Project;
  before(async () => {
    project = await Project.create({ program, file: "index.ts" });
  });
  after(() => {
    project.remove();
  });
  /** Runs the program while the machine has a kubeconfig with this end. */
  const up = async (to: string, ...more: string[]): Promise<string> => {
    project.environment["TO"] = to;
    return succeeded(await project.up(...more));
  };
  const recordedEnd = async (): Promise<unknown> =>
    (await project.resources()).find(({ urn }) => urn.endsWith("-init"))?.outputs?.["stdout"];

  it("is fetched once before its end, and later runs change nothing", async () => {
    const [old, fresh] = ["2026-01-02T00:00:00Z", "2126-01-01T00:00:00Z"];
    await up(old);
    // The control plane has not renewed the certificate yet.
    await up(old);
    assert.equal(await recordedEnd(), old);
    assert.match(await up(fresh), /The kubeconfig's certificate ends at 2026-01-02/);
    assert.equal(await recordedEnd(), fresh);
    await up(fresh, "--expect-no-changes");
  });
});

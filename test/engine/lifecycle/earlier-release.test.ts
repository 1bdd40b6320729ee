import assert from "node:assert/strict";
import { startFakeCloud, type FakeCloud } from "../../support/cloud/fake-openstack.js";
import { recordedStates } from "../../support/engine/recorded-cluster.js";
import type { Project } from "../support/project.js";
import { holding, previewOf, type State } from "../support/recorded.js";

const isComponent = ({ urn }: { readonly urn: string }): boolean =>
  /\bstackadm:\w+:\w+$/.test(urn.split("::")[2] ?? "");

for (const { release, state, args, cloud } of recordedStates()) {
  describe(`a cluster of the release ${release}`, function () {
    this.timeout(600_000);
    let openstack: FakeCloud;
    let project: Project;
    let held: State;

    before(async () => {
      openstack = await startFakeCloud();
      ({ project, held } = await holding(state, openstack));
    });
    after(async () => {
      project.remove();
      await openstack.close();
    });

    it("is updated without a replacement or deletion", async () => {
      const { steps, changeSummary } = await previewOf(project, { args, cloud });
      const lost = steps.filter(({ op }) => !["same", "create", "update"].includes(op));
      // Components exist only in the state, so a release may add or delete components.
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

    if (/"urn":"[^"]*::dev-frozen"/.test(state))
      it("refuses a change of a recorded immutable value", async () => {
        const network = { ...args.network, pods: "10.200.0.0/16" };
        project.environment["CLUSTER"] = JSON.stringify({ ...args, network, cloud });
        const { code, output } = await project.run("preview", "--non-interactive");
        assert.notEqual(code, 0);
        assert.match(
          output,
          /network\.pods: 10\.244\.0\.0\/16 cannot become 10\.200\.0\.0\/16 while/,
        );
      });

    it("refuses another cluster name", async () => {
      project.environment["NAME"] = "other";
      const { code, output } = await project.run("preview", "--non-interactive");
      assert.notEqual(code, 0);
      assert.match(output, /cluster\.name: dev cannot become other while the cluster exists/);
    });
  });
}

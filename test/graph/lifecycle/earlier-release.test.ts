import { strict as assert } from "node:assert";
import { Cluster } from "../../../components/cluster.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { withEngineUrns } from "../../support/engine/engine-urns.js";
import { graph, type Row } from "../../support/graph/graph.js";
import { recordedStates } from "../../support/engine/recorded-cluster.js";

interface Resource {
  readonly urn: string;
  readonly type: string;
  readonly custom: boolean;
  readonly inputs?: Readonly<Record<string, unknown>>;
}

const instance = "openstack:compute/instance:Instance";

/* test/engine/lifecycle/earlier-release.test.ts covers what the engine does with these resources. */
for (const { release, state, args, cloud } of recordedStates()) {
  describe(`the graph for a state of the release ${release}`, () => {
    const { deployment } = JSON.parse(state) as { deployment: { resources: Resource[] } };
    let rows: readonly Row[];
    before(async () => {
      rows = withEngineUrns(
        await graph(() => new Cluster("dev", { ...args, cloud }), {
          ...cloudAnswers,
          stack: "dev",
        }),
      );
    });

    it("matches every recorded resource by URN or alias", () => {
      const known = new Set(rows.flatMap(({ urn, aliases }) => [urn, ...aliases]));
      const lost = deployment.resources
        .filter(({ urn, custom }) => custom && !/::default_\d/.test(urn) && !known.has(urn))
        .map(({ urn }) => urn);
      assert.deepEqual(lost, []);
    });

    it("keeps the compared inputs of every recorded server", () => {
      const servers = deployment.resources.filter(({ type }) => type === instance);
      assert.ok(servers.length > 0);
      for (const { urn, inputs = {} } of servers) {
        const row = rows.find((one) => [one.urn, ...one.aliases].includes(urn)) ?? assert.fail(urn);
        const compared = (of: Readonly<Record<string, unknown>>) =>
          Object.entries(of).filter(([key]) => !row.ignoreChanges.includes(key));
        assert.deepEqual(compared(row.inputs).sort(), compared(inputs).sort(), urn);
      }
    });
  });
}

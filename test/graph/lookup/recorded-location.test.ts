import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import program from "../../../index.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph, type Fields, type Row } from "../../support/graph/graph.js";
import { smallest } from "../../support/config/spec.js";

const network = "openstack:networking/network:Network";

describe("the program, with credentials for another project or region than the cluster's", () => {
  const rows: Row[] = [];
  /** Runs the program. The state contains these outputs of a network with this name. */
  const run = async (outputs: Fields, preview = false, name = "dev-network-network") => {
    rows.length = 0;
    const state = {
      [`urn:pulumi:test::stackadm::${network}::${name}`]: { type: network, outputs },
    };
    const read = { "pulumi:pulumi:readStackResourceOutputs": () => ({ outputs: state }) };
    rows.push(
      ...(await graph(
        () => {
          const cluster = JSON.stringify({ ...smallest, name: "dev" });
          pulumi.runtime.setAllConfig({ "stackadm:cluster": cluster });
          return program();
        },
        { ...cloudAnswers, preview, lookups: { ...cloudAnswers.lookups, ...read } },
      )),
    );
  };

  it("ends before it registers a resource, also in a preview", async () => {
    for (const preview of [true, false]) {
      await assert.rejects(run({ tenantId: "other", region: "region-one" }, preview), {
        message:
          "[WRONG_PROJECT] The cluster dev is in project other, but your credentials are for project project-id. Nothing was changed.",
      });
      await assert.rejects(
        run({ tenantId: "project-id", region: "two" }, preview),
        /\[WRONG_PROJECT\] The cluster dev is in region two, but .* for region region-one\./,
      );
    }
    assert.deepEqual(rows, []);
  });

  it("accepts the same or an unknown place, and objects of other clusters", async () => {
    await run({ tenantId: "project-id", region: "region-one" });
    await run({});
    await run({ tenantId: "other" }, false, "other-network-network");
    assert.ok(rows.length > 0);
  });
});

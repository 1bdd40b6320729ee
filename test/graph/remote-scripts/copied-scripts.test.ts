import { strict as assert } from "node:assert";
import type * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../../../components/cluster.js";
import { UnreachableServers } from "../../../components/lifecycle/unreachable-servers.js";
import { copiedScriptsType, scriptType } from "../../../components/remote-scripts/script-type.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { value } from "../../support/graph/output-value.js";
import { replace } from "../../support/replace-property.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { graph, type CreatedResource, type Row } from "../../support/graph/graph.js";
import { plain } from "../../support/graph/secrets.js";
import { smallest } from "../../support/config/spec.js";

describe("the scripts of machines", () => {
  let rows: readonly Row[];
  before(async () => {
    rows = await clusterRows(smallest);
  });
  const ofType = (type: string): readonly Row[] =>
    rows.filter((row) => row.type === `command:remote:${type}`);

  it("are copied once to each machine before the first script runs", () => {
    const copies = new Map(ofType("CopyToRemote").map(({ name, urn }) => [name, urn]));
    const servers = rows.filter(({ type }) => type.endsWith(":Instance"));
    assert.deepEqual(
      [...copies.keys()].sort(),
      servers.map(({ name }) => name.replace(/server$/, "scripts")).sort(),
    );
    for (const { name, propertyDependencies: needs } of ofType("Command")) {
      if (/-(leave|teardown)$/.test(name)) continue;
      const copy = copies.get(name.replace(/[a-z]*$/, "scripts"));
      assert.ok(copy !== undefined, name);
      assert.ok(needs["create"]?.includes(copy), name);
    }
  });

  it("include their text in standard input if they run on delete", () => {
    const undoing = ofType("Command").filter(({ name }) => /-(leave|teardown)$/.test(name));
    assert.equal(undoing.length, 4);
    for (const { name, inputs, propertyDependencies: needs } of undoing) {
      assert.match(
        plain(inputs["stdin"]),
        /^t=\$\(printf %s '\S+' \| base64 -d \| gunzip\)$/m,
        name,
      );
      for (const property of ["delete", "stdin"])
        assert.doesNotMatch((needs[property] ?? []).join(), /CopyToRemote/, name);
    }
  });

  it("are the same for all machines of a role, and differ between roles", async () => {
    const many = await clusterRows({
      ...smallest,
      topology: "ha",
      access: "bastion",
      bastion: { flavor: "tiny" },
    });
    const digests = new Map<string, Set<string>>();
    for (const { name, inputs } of many.filter(({ type }) => type.endsWith(":CopyToRemote"))) {
      const [, , digest = ""] = (inputs["remotePath"] as string).split("/");
      const role = name.replace(/-\d+-scripts$/, "");
      digests.set(role, (digests.get(role) ?? new Set()).add(digest));
    }
    assert.deepEqual([...digests.keys()].sort(), [
      "dev-bastion",
      "dev-control-plane",
      "dev-workers-general",
    ]);
    for (const [role, found] of digests) assert.equal(found.size, 1, role);
    assert.equal(new Set([...digests.values()].flatMap((one) => [...one])).size, digests.size);
  });

  it("report each server on which a step has finished", async () => {
    const reported: (readonly [pulumi.Output<string>, pulumi.Output<string>])[] = [];
    const restore = replace(
      UnreachableServers.prototype,
      "recordFinishedScript",
      (server: pulumi.Output<string>, script: pulumi.Output<string>) => {
        reported.push([server, script]);
      },
    );
    try {
      await graph(() => new Cluster("dev", smallest), cloudAnswers);
    } finally {
      restore();
    }
    const found = await Promise.all(
      reported.map(async ([server, script]) => `${await value(script)} on ${await value(server)}`),
    );
    assert.deepEqual(
      found.sort(),
      ofType("Command")
        .filter(({ name }) => !/-(leave|teardown)$/.test(name))
        .map(({ name }) => `${name}-id on ${name.replace(/[a-z]*$/, "server")}-id`)
        .sort(),
    );
  });

  it("have known connections in a preview that adds the copies to a cluster", async () => {
    const preview = await graph(() => new Cluster("dev", smallest), {
      ...cloudAnswers,
      preview: true,
      make: ({ type, name, inputs }): Promise<CreatedResource> =>
        Promise.resolve({
          // Without an ID, the ID is unknown.
          id: type === copiedScriptsType ? "" : `${name}-id`,
          outputs: cloudAnswers.outputs?.[type]?.(inputs, name) ?? {},
        }),
    });
    const connections = (some: readonly Row[]): Map<string, unknown> =>
      new Map(
        some
          .filter(({ type }) => type === scriptType)
          .map(({ name, inputs }) => [name, inputs["connection"]]),
      );
    assert.deepEqual(connections(preview), connections(rows));
  });
});

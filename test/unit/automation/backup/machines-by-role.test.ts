import assert from "node:assert/strict";
import { omitForeignServers } from "../../../../automation/backup/machines-by-role.js";
import { getClusterMetadata } from "../../../../openstack/inventory/ownership.js";
import { object } from "../../../support/cloud/cloud-object.js";

describe("omitForeignServers", () => {
  it("omits servers marked with another cluster's identity, except those in the state", () => {
    const mark = (identity: string) => getClusterMetadata({ name: "dev", identity });
    const another = mark("ba9876543210");
    const servers = Object.entries({
      theirs: another,
      recorded: another,
      ours: mark("0123456789ab"),
      early: mark(""),
      unmarked: {},
    }).map(([id, metadata]) => object({ kind: "server", id, metadata }));
    const held = { owned: new Set(["recorded"]), identities: new Set(["0123456789ab"]) };
    assert.deepEqual(
      omitForeignServers(servers, held).map(({ id }) => id),
      ["recorded", "ours", "early", "unmarked"],
    );
  });
});

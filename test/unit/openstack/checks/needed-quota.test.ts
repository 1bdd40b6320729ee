import assert from "node:assert/strict";
import { getNeededQuota } from "../../../../openstack/checks/needed-quota.js";
import { generationMetadataKey } from "../../../../openstack/inventory/ownership.js";
import { object } from "../../../support/cloud/cloud-object.js";
import { flavors, machine, needs } from "../../../support/cloud/equipped-cloud.js";

describe("getNeededQuota", () => {
  const small = { vcpus: 2, ram: 2048 };
  const server = (name: string, capacity?: typeof small) =>
    object({
      name: `dev-${name}`,
      metadata: { [generationMetadataKey]: "0" },
      ...(capacity && { capacity }),
    });
  const needed = (
    machines: readonly ReturnType<typeof machine>[],
    ...servers: ReturnType<typeof server>[]
  ) => {
    const quota = getNeededQuota({ ...needs, machines }, flavors, servers);
    return [quota.instances, quota.cores, quota["MiB of RAM"]];
  };
  const larger = (generation: number) => machine("general-0", { flavor: "big", generation });

  it("contains the servers of missing machines", () => {
    assert.deepEqual(needed([larger(0), machine("general-1")]), [2, 6, 10_240]);
  });

  it("contains by how much the servers of replaced machines become larger", () => {
    assert.deepEqual(needed([larger(1)], server("general-0", small)), [0, 2, 6_144]);
    const both = [larger(1), machine("general-1")];
    assert.deepEqual(needed(both, server("general-0", small)), [1, 4, 8_192]);
  });

  it("does not contain kept servers, and servers whose size Nova does not report", () => {
    assert.deepEqual(needed([larger(0)], server("general-0", small)), [0, 0, 0]);
    assert.deepEqual(needed([larger(1)], server("general-0")), [0, 0, 0]);
  });
});

import assert from "node:assert/strict";
import { TerraformPlaceholders } from "../../support/terraform/references.js";

describe("TerraformPlaceholders", () => {
  it("replaces placeholders by expressions everywhere, even hundreds of them", () => {
    const references = new TerraformPlaceholders();
    references.stand("ref.dev-a-server.id", "openstack_compute_instance_v2.a.id");
    references.stand("1437", "openstack_networking_network_v2.a.mtu");
    const addresses = Array.from({ length: 300 }, (_, number) =>
      references.address(`port.p${String(number)}.address`),
    );
    assert.equal(new Set(addresses).size, 300);
    assert.equal(
      references.template(
        `ID=ref.dev-a-server.id, at ${addresses[299] ?? ""}/32 MTU 1437 of 14370`,
      ),
      "ID=${openstack_compute_instance_v2.a.id}, at ${port.p299.address}/32 MTU ${openstack_networking_network_v2.a.mtu} of 14370",
    );
    assert.deepEqual(references.render({ mtu: 1437, more: ["198.18.77.77", 1438] }), {
      mtu: "${openstack_networking_network_v2.a.mtu}",
      more: ["198.18.77.77", 1438],
    });
  });

  it("refuses a placeholder without a value, and escapes Terraform's template characters", () => {
    const references = new TerraformPlaceholders();
    assert.throws(() => references.template("ref.dev-b-server.id"), /stands for nothing/);
    assert.equal(references.template("${HOME} %{x}"), "$${HOME} %%{x}");
  });
});

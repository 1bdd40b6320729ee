import { strict as assert } from "node:assert";
import { requireNoForgottenSubnet } from "../../../components/lookup/forgotten-subnet.js";
import { graph, type Fields } from "../../support/graph/graph.js";

const [network, subnet] = [
  ...["openstack:networking/network:Network", "openstack:networking/subnet:Subnet"],
] as const;
const tags = ["stackadm-cluster=dev", "stackadm-identity=0123456789ab"];

/** Outputs of each resource in the state, by type and name. */
type State = readonly (readonly [type: string, name: string, outputs?: Fields])[];

describe("requireNoForgottenSubnet", () => {
  let asked: Fields[];
  /** Runs the check with this state. Neutron returns the subnets with these IDs. */
  const check = async (state: State, ids: readonly string[], preview = false): Promise<void> => {
    asked = [];
    const outputs = state.map(([type, name, outputs = {}]) => [`urn::${name}`, { type, outputs }]);
    await graph(() => requireNoForgottenSubnet("dev", {}), {
      preview,
      lookups: {
        "pulumi:pulumi:readStackResourceOutputs": () => ({
          outputs: Object.fromEntries(outputs) as Fields,
        }),
        "openstack:networking/getSubnetIdsV2:getSubnetIdsV2": (inputs) => {
          asked.push(inputs);
          return { ids };
        },
      },
    });
  };
  const alone: State = [[network, "dev-network-network", { id: "n", tags }]];

  it("refuses an update whose network contains a subnet of the cluster without a record", async () => {
    await assert.rejects(
      check(alone, ["s"]),
      /\[FAILED\] The network of dev-network-network contains a subnet that is not in the state \(s\)\. .* run `openstack subnet delete s`, then the same command again\. To delete the cluster, run the destroy again\.$/,
    );
    assert.deepEqual(asked, [{ networkId: "n", tags }]);
  });

  it("only warns in a preview, because `stackadm up` may delete the subnet itself", async () => {
    await check(alone, ["s"], true);
    assert.equal(asked.length, 1);
  });

  it("accepts a network whose subnet was not created yet", async () => {
    await check(alone, []);
    assert.equal(asked.length, 1);
  });

  it("asks nothing if the state contains network and subnet, or no network of the cluster", async () => {
    for (const state of [
      [...alone, [subnet, "dev-network-subnet"] as const],
      [[network, "other-network-network", { id: "n", tags }] as const],
      [[network, "dev-network-network"] as const],
      [],
    ]) {
      await check(state, ["s"]);
      assert.deepEqual(asked, []);
    }
  });
});

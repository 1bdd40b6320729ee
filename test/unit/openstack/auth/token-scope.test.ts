import assert from "node:assert/strict";
import { getCloudScope, type TokenScope } from "../../../../openstack/auth/token-scope.js";

describe("getCloudScope", () => {
  const at = (region: string, kind = "public"): TokenScope["endpoints"][number] => ({
    interface: kind,
    region,
    url: `https://${region}.example.org/identity/v3/`,
  });
  const leads = (endpoints: readonly TokenScope["endpoints"][number][], region = ""): unknown => {
    const found = getCloudScope({ endpoints, region, projectId: "p", roles: ["reader", "member"] });
    return found && [found.authUrl, found.region];
  };

  it("returns Keystone's public endpoint in the region, with its version", () => {
    const endpoints = [at("two"), at("one", "internal"), at("one")];
    assert.deepEqual(leads(endpoints, "one"), ["https://one.example.org/identity/v3", "one"]);
  });

  it("returns the first region by default, and the only Keystone if it is in another region", () => {
    assert.deepEqual(leads([at("two"), at("one")]), ["https://two.example.org/identity/v3", "two"]);
    assert.deepEqual(leads([at("one")], "two"), ["https://one.example.org/identity/v3", "two"]);
  });

  it("returns nothing without a public endpoint", () => {
    assert.equal(leads([at("one", "internal")], "one"), undefined);
  });

  it("sorts the roles", () => {
    const scope = getCloudScope({
      endpoints: [at("one")],
      region: "",
      projectId: "p",
      roles: ["reader", "member"],
    });
    assert.deepEqual(scope?.roles, ["member", "reader"]);
  });
});

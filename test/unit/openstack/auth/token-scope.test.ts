import assert from "node:assert/strict";
import { getCloudScope, type TokenScope } from "../../../../openstack/auth/token-scope.js";

describe("where a credential leads", () => {
  const at = (region: string, kind = "public"): TokenScope["endpoints"][number] => ({
    interface: kind,
    region,
    url: `https://${region}.example.org/identity/v3/`,
  });
  const leads = (endpoints: readonly TokenScope["endpoints"][number][], region = ""): unknown => {
    const found = getCloudScope({ endpoints, region, projectId: "p", roles: ["reader", "member"] });
    return found && [found.authUrl, found.region];
  };

  it("is Keystone's public address in the region, with its version", () => {
    const endpoints = [at("two"), at("one", "internal"), at("one")];
    assert.deepEqual(leads(endpoints, "one"), ["https://one.example.org/identity/v3", "one"]);
  });

  it("is the first region where none was chosen, and the only Keystone where that is elsewhere", () => {
    assert.deepEqual(leads([at("two"), at("one")]), ["https://two.example.org/identity/v3", "two"]);
    assert.deepEqual(leads([at("one")], "two"), ["https://one.example.org/identity/v3", "two"]);
  });

  it("is not known without a public address", () => {
    assert.equal(leads([at("one", "internal")], "one"), undefined);
  });

  it("has the roles in an order of their own", () => {
    const scope = getCloudScope({
      endpoints: [at("one")],
      region: "",
      projectId: "p",
      roles: ["reader", "member"],
    });
    assert.deepEqual(scope?.roles, ["member", "reader"]);
  });
});

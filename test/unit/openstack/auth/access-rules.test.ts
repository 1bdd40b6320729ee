import { strict as assert } from "node:assert";
import { listAccessRules, type AccessRule } from "../../../../openstack/auth/access-rules.js";

/** Matches a path like the services: `*` is one path segment, `**` is any number of segments. */
const matches = (pattern: string, path: string): boolean =>
  new RegExp(
    `^${pattern.replaceAll(/\*\*|\*|[^*]+/g, (part) =>
      part === "**" ? ".*" : part === "*" ? "[^/]+" : part.replaceAll(".", "\\."),
    )}$`,
  ).test(path);

/** Returns whether a request like `POST network /v2.0/ports` is allowed. */
const allows = (rules: readonly AccessRule[], call: string): boolean => {
  const [method, service, path = ""] = call.split(" ");
  return rules.some(
    (rule) => rule.method === method && rule.service === service && matches(rule.path, path),
  );
};

/**
 * Requests in the sources of cloud controller and Cinder CSI; some also below a path prefix, which
 * some clouds use.
 */
const asked = [
  "GET compute /v2.1/servers/detail",
  "GET compute /v2.1/servers/1",
  "GET compute /compute/v2.1/servers/1",
  "GET compute /v2.1/flavors/1",
  "POST compute /v2.1/servers/1/os-volume_attachments",
  "DELETE compute /v2.1/servers/1/os-volume_attachments/2",
  "GET network /v2.0/extensions",
  "GET network /v2.0/networks",
  "GET network /networking/v2.0/subnets/1",
  "GET network /v2.0/ports",
  "PUT network /v2.0/ports/1",
  "DELETE network /v2.0/ports/1/tags/2",
  "POST network /v2.0/floatingips",
  "PUT network /v2.0/floatingips/1",
  "DELETE network /v2.0/floatingips/1",
  "POST network /v2.0/security-groups",
  "DELETE network /v2.0/security-groups/1",
  "POST network /v2.0/security-group-rules",
  "DELETE network /v2.0/security-group-rules/1",
  "GET load-balancer /",
  "POST load-balancer /v2.0/lbaas/loadbalancers",
  "PUT load-balancer /v2.0/lbaas/loadbalancers/1",
  "DELETE load-balancer /load-balancer/v2.0/lbaas/loadbalancers/1",
  "POST load-balancer /v2.0/lbaas/listeners",
  "POST load-balancer /v2.0/lbaas/pools",
  "PUT load-balancer /v2.0/lbaas/pools/1/members",
  "DELETE load-balancer /v2.0/lbaas/pools/1/members/2",
  "POST load-balancer /v2.0/lbaas/healthmonitors",
  "POST load-balancer /v2.0/lbaas/l7policies/1/rules",
  ...["block-storage", "volumev3", "volume"].flatMap((service) => [
    `GET ${service} /v3/p/volumes/detail`,
    `GET ${service} /v3/p/volumes/1`,
    `POST ${service} /v3/p/volumes`,
    `POST ${service} /volume/v3/p/volumes/1/action`,
    `DELETE ${service} /v3/p/volumes/1`,
    `POST ${service} /v3/p/snapshots`,
    `GET ${service} /v3/p/snapshots/1`,
    `DELETE ${service} /v3/p/snapshots/1`,
    `POST ${service} /v3/p/backups`,
    `DELETE ${service} /v3/p/backups/1`,
  ]),
];

/** Requests that must be denied to a stolen credential. */
const refused = [
  "POST compute /v2.1/servers",
  "DELETE compute /v2.1/servers/1",
  "POST compute /v2.1/servers/1/action",
  "POST compute /v2.1/servers/1/remote-consoles",
  "POST compute /v2.1/os-keypairs",
  "POST network /v2.0/networks",
  "POST network /v2.0/ports",
  "DELETE network /v2.0/ports/1",
  "DELETE network /v2.0/networks/1",
  "DELETE network /v2.0/routers/1",
  "POST volumev3 /v3/p/volume-transfers",
  "GET image /v2/images",
  "POST image /v2/images",
  "GET identity /v3/users/1/application_credentials",
  "POST identity /v3/users/1/application_credentials",
  "GET key-manager /v1/secrets/1/payload",
  "POST key-manager /v1/secrets",
];

const routing = [
  "PUT network /v2.0/routers/1",
  "PUT network /v2.0/routers/1/add_extraroutes",
  "PUT network /v2.0/routers/1/remove_extraroutes",
];

const certifying = [
  "GET key-manager /v1/containers/1",
  "GET key-manager /v1/secrets/1",
  "GET key-manager /v1/secrets/1/acl",
  "PUT key-manager /v1/secrets/1/acl",
  // For a container, Octavia reads the container's ACL before those of its secrets.
  "GET key-manager /v1/containers/1/acl",
  "PUT key-manager /v1/containers/1/acl",
];

const neither = { routes: false, certificates: false };

describe("access rules of the controllers' credential", () => {
  const rules = listAccessRules(["controllers"], neither);

  it("allow the controllers' requests", () => {
    for (const call of asked) assert.ok(allows(rules, call), call);
  });

  it("allow no other modifying request and no other service", () => {
    for (const call of [...refused, ...routing, ...certifying])
      assert.ok(!allows(rules, call), call);
  });

  it("allow routes if the cloud routes pods, and certificates if the stack names one", () => {
    const more = { routes: routing, certificates: certifying };
    for (const [what, calls] of Object.entries(more)) {
      const wider = listAccessRules(["controllers"], { ...neither, [what]: true });
      for (const call of [...asked, ...calls]) assert.ok(allows(wider, call), call);
      for (const call of refused) assert.ok(!allows(wider, call), call);
    }
  });

  it("are valid for Keystone, unique and sorted", () => {
    const own = { service: "image", method: "GET", path: "/v2/images" } as const;
    const twice = listAccessRules(["controllers", own, own, "controllers"], neither);
    assert.equal(twice.length, rules.length + 1);
    assert.deepEqual(twice, listAccessRules([own, "controllers"], neither));
    for (const { path, service } of twice) {
      assert.match(path, /^\/.{0,127}$/);
      assert.match(service, /^[a-zA-Z0-9-]{1,64}$/);
    }
  });
});

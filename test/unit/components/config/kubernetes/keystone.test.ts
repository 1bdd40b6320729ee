import { strict as assert } from "node:assert";
import { collectFrozenValues } from "../../../../../components/config/immutable-fields.js";
import { parseClusterSpec } from "../../../../../components/config/cluster-spec.js";
import { smallest } from "../../../../support/config/spec.js";

const parsed = (kubernetes: object) => parseClusterSpec({ ...smallest, kubernetes });
const problems = (kubernetes: object): string[] => {
  const result = parsed(kubernetes);
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path.slice(19)}: ${message}`)
    : [];
};
const rule = { projects: ["demo"], roles: ["member"], resources: { "default/pods": ["get"] } };

describe("kubernetes.keystone", () => {
  it("is off by default; an empty object selects the cluster's own cloud", () => {
    const [without, own] = [parsed({}), parsed({ keystone: {} })];
    assert.ok("spec" in without && "spec" in own);
    assert.equal(without.spec.kubernetes.keystone, undefined);
    assert.deepEqual(own.spec.kubernetes.keystone, {});
    assert.deepEqual(collectFrozenValues(own.spec), collectFrozenValues(without.spec));
  });

  it("completes the parts of each rule", () => {
    const result = parsed({ keystone: { policy: [rule, { projects: ["ops"] }] } });
    assert.ok("spec" in result);
    assert.deepEqual(result.spec.kubernetes.keystone?.policy, [
      { ...rule, paths: {} },
      { projects: ["ops"], roles: [], resources: {}, paths: {} },
    ]);
  });

  it("reports all problems at once, with what to write", () => {
    const policy = [
      { roles: ["member"] },
      { projects: [], resources: { pods: ["get"], "a/b/c": ["get"] }, paths: { version: ["get"] } },
      { projects: ["demo"], resources: { "default/pods": [] }, verbs: ["get"] },
    ];
    assert.deepEqual(problems({ keystone: { url: "keystone", policy } }), [
      'keystone.url: "keystone" is not the address of Keystone; write one that begins with https',
      "keystone.policy.0.projects: is missing; write a list of projects",
      "keystone.policy.1.projects: is empty; write a list of projects",
      "keystone.policy.1.resources.pods: is not a namespace and a resource; write them with a slash between, like default/pods, and * for all",
      "keystone.policy.1.resources.a/b/c: is not a namespace and a resource; write them with a slash between, like default/pods, and * for all",
      "keystone.policy.1.paths.version: is not a path of the API; write one that begins with a slash, like /version",
      "keystone.policy.2.resources.default/pods: is empty; write a list of verbs, like [get, list, watch]",
      'keystone.policy.2: does not know ["verbs"]; it has projects, roles, resources, paths',
    ]);
  });

  it("allows the user's webhook flags of the API server until Keystone needs these flags", () => {
    const authentication = { "authentication-token-webhook-config-file": "/etc/kubernetes/pki/x" };
    const authorization = { "authorization-mode": "Node,RBAC" };
    const apiServer = { extraArgs: { ...authentication, ...authorization } };
    const refused = "is kubernetes.keystone's; leave one of them out";
    const path = "apiServer.extraArgs";
    assert.deepEqual(problems({ apiServer }), []);
    assert.deepEqual(problems({ apiServer, keystone: {} }), [
      `${path}.authentication-token-webhook-config-file: ${refused}`,
    ]);
    assert.deepEqual(problems({ apiServer, keystone: { policy: [rule] } }), [
      `${path}.authentication-token-webhook-config-file: ${refused}`,
      `${path}.authorization-mode: ${refused}`,
    ]);
  });
});

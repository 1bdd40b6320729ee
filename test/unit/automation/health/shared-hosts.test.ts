import assert from "node:assert/strict";
import { findSharedHostWarnings } from "../../../../automation/health/shared-hosts.js";
import { parseOutputs } from "../../../../automation/verify/cluster-outputs.js";

/**
 * Returns the machines of a group. Each letter of `hosts` is the host of one machine; `-` is
 * unknown.
 */
const group = (pool: string, role: string, hosts: string) =>
  Array.from(hosts, (host, position) => {
    const name = `dev-${pool}-${String(position)}`;
    return { name, role, zone: "", address: "10.0.0.9", serverId: `id-of-${name}`, host };
  });

function warnings(controlPlanes: string, etcd = "", workers = ""): string[] {
  const nodes = [
    ...group("control-plane", "control-plane", controlPlanes),
    ...group("general", "worker", workers),
  ];
  const apart = group("etcd", "etcd", etcd);
  const outputs = parseOutputs({
    kubeconfig: "",
    clusterName: "dev",
    apiEndpoint: "",
    hostKeys: [],
    nodes,
    ...(apart.length > 0 && { etcd: apart }),
  });
  const servers = [...nodes, ...apart].map(({ serverId: id, host }) => ({
    id,
    host: host === "-" ? "" : host,
  }));
  return findSharedHostWarnings(outputs, servers);
}

describe("findSharedHostWarnings", () => {
  it("returns nothing if control planes and etcd are on separate hosts, with workers on any host", () => {
    for (const hosts of ["a", "abc", "abcde"]) assert.deepEqual(warnings(hosts, "abc", "aaa"), []);
  });

  it("returns nothing if the cloud hides the hosts, and ignores deleted servers", () => {
    assert.deepEqual(warnings("---"), []);
    const [one] = group("control-plane", "control-plane", "a");
    assert.ok(one);
    const nodes = [one, { ...one, name: "dev-control-plane-1", serverId: "gone" }];
    const rest = { kubeconfig: "", clusterName: "dev", apiEndpoint: "", hostKeys: [] };
    assert.deepEqual(findSharedHostWarnings(parseOutputs({ ...rest, nodes }), []), []);
  });

  it("reports the machines, the loss with their host, and how to move one of them", () => {
    const [warning, ...more] = warnings("aba");
    assert.deepEqual(more, []);
    assert.match(
      warning ?? "",
      /^dev-control-plane-0 and dev-control-plane-2 are on one host, and etcd loses its majority if it fails; .* raise `controlPlane\.nodes\.2\.generation`/,
    );
    assert.match(warnings("aaa")[0] ?? "", /^dev-control-plane-0, dev-control-plane-1 and dev-/);
  });

  it("distinguishes whether a majority of etcd would remain", () => {
    const of = (hosts: string): string[] => warnings(hosts).map((text) => text.split(";")[0] ?? "");
    assert.match(of("aabcd").join(), /^[^,]+ are on one host, and they fail together with it$/);
    assert.equal(of("aabbc").length, 2);
    assert.match(of("aaabc").join(), /etcd loses its majority/);
  });

  it("also checks etcd's own machines", () => {
    const found = warnings("abc", "abb");
    assert.match(found.join(), /^dev-etcd-1 and dev-etcd-2 .* raise `etcd\.nodes\.2\.generation`/);
  });

  it("reports the joint failure of control planes without a majority if etcd has its own machines", () => {
    assert.match(
      warnings("aab", "abc").join(),
      /^[^,;]+ are on one host, and they fail together with it;/,
    );
  });
});

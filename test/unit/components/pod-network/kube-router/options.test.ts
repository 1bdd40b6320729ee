import { strict as assert } from "node:assert";
import fc from "fast-check";
import { parseClusterSpec } from "../../../../../components/config/cluster-spec.js";
import {
  findFrozenValueChanges,
  collectFrozenValues,
} from "../../../../../components/config/immutable-fields.js";
import { findPlainTextSecrets } from "../../../../../components/config/plain-text-secrets.js";
import { smallest } from "../../../../support/config/spec.js";

const parsed = (podNetwork: object | string, over: object = {}) =>
  parseClusterSpec({ ...smallest, ...over, podNetwork });
const problems = (podNetwork: object, over: object = {}): string[] => {
  const result = parsed({ kind: "kube-router", ...podNetwork }, over);
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path}: ${message}`)
    : [];
};
const frozenOf = (podNetwork: object | string) => {
  const result = parsed(podNetwork);
  assert.ok("spec" in result, JSON.stringify(result));
  return collectFrozenValues(result.spec);
};
const at = "cluster.podNetwork";
const peer = { address: "10.0.0.250", asn: 65001 };

describe("podNetwork of kind kube-router", () => {
  it("equals the plain name without options", () => {
    assert.equal(frozenOf("kube-router")["podNetwork"], "kube-router");
    assert.equal(frozenOf({ kind: "kube-router", peers: [peer] })["podNetwork"], "kube-router");
  });

  it("freezes encapsulation, AS number and the choice of the Services' proxy", () => {
    for (const kept of [{ overlay: "full" }, { asn: 64999 }, { serviceProxy: true }]) {
      const [before, now] = [frozenOf("kube-router"), frozenOf({ kind: "kube-router", ...kept })];
      const [problem, ...more] = findFrozenValueChanges(before, now);
      assert.equal(problem?.path, at);
      assert.match(problem.message, /^kube-router cannot become .* while the cluster exists/);
      assert.deepEqual(more, []);
    }
  });

  it("requires a private AS number for the cluster and any unreserved one for peers", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4294967294 }), (asn) => {
        const free = (asn >= 64512 && asn <= 65535) || asn >= 4200000000;
        assert.equal(problems({ asn }).length === 0, free, String(asn));
      }),
    );
    for (const asn of [0, 23456, 64000, 65535, 131071, 4294967295])
      assert.match(problems({ peers: [{ ...peer, asn }] }).join(), /peers\.0\.asn: \d+ is /);
    for (const asn of [1, 64512, 65534, 131072, 4294967294])
      assert.deepEqual(problems({ peers: [{ ...peer, asn }] }), []);
  });

  it("reports options without effect and options that the machines' ports do not allow", () => {
    const alone = "is for peers, and there are none; name one in podNetwork.peers, or leave it out";
    assert.deepEqual(problems({ advertiseServices: ["external-ip"], multihop: 2, hairpin: true }), [
      `${at}.advertiseServices: ${alone}`,
      `${at}.multihop: ${alone}`,
      `${at}.advertiseServices: external-ip are addresses that the machines' ports do not allow; write their ranges in podNetwork.serviceRanges`,
      `${at}.hairpin: is kube-router's as service proxy; kube-proxy does it anyway: leave it out`,
    ]);
    assert.deepEqual(problems({ peers: [peer, peer] }), [
      `${at}.peers.1.address: 10.0.0.250 is there twice; leave one out`,
    ]);
    assert.deepEqual(problems({ peers: [peer], advertiseServices: ["cluster-ip"] }), []);
  });

  it("reports what to write for each refused value", () => {
    const wrong = {
      overlay: "vxlan",
      tunnel: "gre",
      advertiseServices: ["nodes"],
      serviceRanges: ["10.0.0.1"],
      multihop: 1,
      peers: [{ address: "router", asn: 65001, port: 70000, password: "" }],
    };
    const found = problems(wrong).join("\n");
    for (const [path, message] of [
      ["overlay", "is not known here; write off or subnet or full"],
      ["tunnel", "is not known here; write ipip or fou"],
      ["advertiseServices.0", "write cluster-ip or external-ip or load-balancer-ip"],
      ["serviceRanges.0", "is not an IPv4 range"],
      ["multihop", "write a whole number of at least 2"],
      ["peers.0.address", "is not an IPv4 address"],
      ["peers.0.port", "is no port; write one up to 65535"],
      ["peers.0.password", "is not a password; write it, encrypted"],
    ] as const)
      assert.match(found, new RegExp(`${at}\\.${path}: .*${message}`), path);
    assert.match(problems({ multihop: 256, peers: [peer] }).join(), /write 255 at most/);
  });

  it("reports each peer's password in plain text", () => {
    const result = parsed({
      kind: "kube-router",
      peers: [
        peer,
        { ...peer, address: "10.0.0.251", password: "in clear" },
        { ...peer, address: "10.0.0.252", password: { secure: "v1:..." } },
      ],
    });
    assert.ok("spec" in result, JSON.stringify(result));
    const found = findPlainTextSecrets(result.spec, "stackadm").map(({ path }) => path);
    assert.deepEqual(found, ["cluster.podNetwork.peers[1].password"]);
  });

  it("refuses kube-proxy settings if kube-router replaces kube-proxy", () => {
    const kubernetes = { kubeProxy: { metricsBindAddress: "0.0.0.0" } };
    assert.deepEqual(problems({ serviceProxy: true }, { kubernetes }), [
      "cluster.kubernetes.kubeProxy: has no effect where podNetwork.serviceProxy leaves kube-proxy out; leave it out",
    ]);
    assert.deepEqual(problems({}, { kubernetes }), []);
  });
});

import assert from "node:assert/strict";
import {
  phaseFacts,
  findResourcePhase,
  phases,
  type Phase,
} from "../../../../automation/pulumi/phases.js";
import { parseUrn, getShortType } from "../../../../automation/pulumi/urn.js";
import { nonEmpty } from "../../../support/non-empty.js";

const urn = (chain: string, name: string): string => `urn:pulumi:dev::stackadm::${chain}::${name}`;
const cluster = "stackadm:index:Cluster";
const remote = "command:remote:Command";

describe("findResourcePhase", () => {
  const table: [Phase | undefined, string, string][] = [
    [
      "network",
      `${cluster}$stackadm:network:Network$openstack:networking/network:Network`,
      "dev-network-network",
    ],
    [
      "network",
      `${cluster}$stackadm:network:Network$openstack:networking/routerInterface:RouterInterface`,
      "i",
    ],
    [
      "network",
      `${cluster}$stackadm:kubeadm:ControlPlane$stackadm:network:Endpoint$openstack:networking/floatingIp:FloatingIp`,
      "dev-control-plane-endpoint-floating-ip",
    ],
    [
      "security",
      `${cluster}$stackadm:network:Firewall$openstack:networking/secGroup:SecGroup`,
      "dev-firewall-node",
    ],
    [
      "security",
      `${cluster}$stackadm:network:Firewall$openstack:networking/secGroupRule:SecGroupRule`,
      "r",
    ],
    [
      "security",
      `${cluster}$stackadm:identity:ApplicationCredential$openstack:identity/applicationCredential:ApplicationCredential`,
      "c",
    ],
    ["security", `${cluster}$command:local:Command`, "dev-seed"],
    [
      "security",
      `${cluster}$stackadm:kubeadm:WorkerPool$openstack:compute/serverGroup:ServerGroup`,
      "g",
    ],
    [
      "servers",
      `${cluster}$stackadm:kubeadm:WorkerPool$stackadm:machine:Machine$openstack:networking/port:Port`,
      "p",
    ],
    [
      "servers",
      `${cluster}$stackadm:kubeadm:ControlPlane$stackadm:machine:Machine$openstack:compute/instance:Instance`,
      "s",
    ],
    ["boot", `${cluster}$stackadm:kubeadm:ControlPlane$${remote}`, "dev-control-plane-0-prepare"],
    ["boot", `${cluster}$stackadm:kubeadm:WorkerPool$${remote}`, "dev-workers-general-0-prepare"],
    [
      "control plane",
      `${cluster}$stackadm:kubeadm:ControlPlane$${remote}`,
      "dev-control-plane-0-init",
    ],
    [
      "control plane",
      `${cluster}$stackadm:kubeadm:ControlPlane$${remote}`,
      "dev-control-plane-1-join",
    ],
    ["workers", `${cluster}$stackadm:kubeadm:WorkerPool$${remote}`, "dev-workers-general-0-join"],
    ["samples", `${cluster}$stackadm:kubeadm:ControlPlane$${remote}`, "dev-control-plane-teardown"],
    [
      "cloud and pod network",
      `${cluster}$stackadm:addons:Addons$stackadm:addons:CloudController$kubernetes:apps/v1:DaemonSet`,
      "dev-addons-cloud-controller-daemon-set",
    ],
    [
      "cloud and pod network",
      `${cluster}$stackadm:addons:Addons$stackadm:addons:NetworkPlugin$kubernetes:core/v1:ConfigMap`,
      "dev-addons-network-kube-router-cni",
    ],
    [
      "storage",
      `${cluster}$stackadm:addons:Addons$stackadm:addons:BlockStorage$kubernetes:apps/v1:Deployment`,
      "dev-addons-storage-controller",
    ],
    [
      "storage",
      `${cluster}$stackadm:addons:Addons$stackadm:addons:BlockStorage$kubernetes:storage.k8s.io/v1:StorageClass`,
      "dev-addons-storage-class-gold",
    ],
    [
      "samples",
      `${cluster}$stackadm:addons:Addons$stackadm:addons:Samples$kubernetes:core/v1:Service`,
      "dev-addons-samples-web-external",
    ],
    [
      "samples",
      `${cluster}$stackadm:addons:Addons$stackadm:addons:IngressController$kubernetes:core/v1:Service`,
      "dev-addons-ingress-service",
    ],
    [
      "network",
      `${cluster}$stackadm:ingress:IngressBalancer$openstack:loadbalancer/pool:Pool`,
      "dev-ingress-pool-http",
    ],
    ["servers", `${cluster}$openstack:compute/instance:Instance`, "no-component"],
    ["network", `${cluster}$stackadm:index:New$openstack:networking/network:Network`, "n"],
    ["network", `${cluster}$stackadm:endpoint:New$openstack:loadbalancer/pool:Pool`, "p"],
    ["security", `${cluster}$stackadm:access:New$openstack:networking/secGroup:SecGroup`, "g"],
    ["servers", `${cluster}$stackadm:access:New$stackadm:machine:Machine$a:b:C`, "m"],
    ["cloud and pod network", `${cluster}$stackadm:pod-network:New$kubernetes:core/v1:Secret`, "s"],
    ["cloud and pod network", `${cluster}$stackadm:unknown:New$kubernetes:core/v1:Secret`, "s"],
    ["security", `${cluster}$random:index/randomId:RandomId`, "r"],
    ["boot", `${cluster}$stackadm:kubeadm:WorkerPool$stackadm:machine:Machine$${remote}`, "m"],
    ["control plane", `${cluster}$stackadm:endpoint:New$${remote}`, "keepalived"],
    ["samples", `my:index:Platform$${cluster}$stackadm:addons:Samples$kubernetes:core/v1:Pod`, "p"],
    [undefined, "pulumi:pulumi:Stack", "stackadm-dev"],
    [undefined, "kubernetes:core/v1:Namespace", "foreign"],
    [undefined, "my:index:Platform$command:remote:Command", "foreign-prepare"],
    [undefined, `${cluster}$pulumi:providers:kubernetes`, "dev-addons-provider"],
    [undefined, "pulumi:providers:openstack", "default_3_15_2"],
    [undefined, "random:index:Pet", "foreign"],
  ];
  for (const [phase, chain, name] of table)
    it(`returns ${phase ?? "none"} for ${getShortType(chain)} ${name}`, () => {
      assert.equal(findResourcePhase(urn(chain, name)), phase);
    });
});

describe("phases", () => {
  it("follow each other in stages", () => {
    const stages = phases.map((phase) => phaseFacts[phase].stage);
    assert.deepEqual(stages, [...stages].sort());
  });

  it("have a title and expected seconds for both directions", () => {
    for (const phase of nonEmpty(phases)) {
      const { title, up, destroy } = phaseFacts[phase];
      assert.ok(title.length > 3 && up > 0 && destroy > 0, phase);
    }
  });
});

describe("parseUrn", () => {
  it("splits a URN into its parts", () => {
    assert.deepEqual(parseUrn("urn:pulumi:dev::stackadm::a:b:C$d:e/f:G::name"), {
      stack: "dev",
      project: "stackadm",
      types: ["a:b:C", "d:e/f:G"],
      type: "d:e/f:G",
      name: "name",
    });
  });

  it("keeps colons in the name", () => {
    assert.equal(parseUrn("urn:pulumi:dev::p::a:b:C::one::two").name, "one::two");
  });

  it("returns empty parts for an invalid URN", () => {
    assert.equal(parseUrn("").name, "");
    assert.equal(parseUrn("hello").type, "");
  });
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { inventoryKinds } from "../../../../openstack/inventory/inventory.js";
import {
  getClusterDescription,
  getClusterMetadata,
  getClusterTags,
  getCredentialDescription,
  getNameInCloud,
  getOwnership,
  getServerGroupName,
} from "../../../../openstack/inventory/ownership.js";
import { object } from "../../../support/cloud/cloud-object.js";

const mark = { name: "dev", identity: "0123456789ab" };
const inCloud = "dev-0123456789ab";
/** Kinds of objects that get their tags by a second request to Neutron. */
const neutrons = [
  ...(["network", "subnet", "router"] as const),
  ...(["port", "floating IP", "security group"] as const),
] as const;

describe("getOwnership", () => {
  it("reads tags, metadata or description", () => {
    const marked = { mark, claim: "marked by stackadm" };
    const tags = ["x", ...getClusterTags(mark)];
    assert.deepEqual(getOwnership(object({ kind: "network", tags })), marked);
    assert.deepEqual(getOwnership(object({ metadata: getClusterMetadata(mark) })), marked);
    for (const kind of neutrons)
      for (const what of [undefined, "Kubernetes API"])
        assert.deepEqual(
          getOwnership(object({ kind, description: getClusterDescription(mark, what) })),
          marked,
          kind,
        );
    const group = object({ kind: "server group", name: getServerGroupName(mark, "general") });
    assert.deepEqual(getOwnership(group), marked);
    const credential = object({
      kind: "application credential",
      description: getCredentialDescription(mark),
    });
    assert.deepEqual(getOwnership(credential), marked);
    // The API's load balancer belongs to no Service, so that its claim is the mark.
    const balancer = object({ kind: "load balancer", name: "dev-api", tags: getClusterTags(mark) });
    assert.deepEqual(getOwnership(balancer), marked);
  });

  it("reads names and descriptions of the cloud controller", () => {
    const claims = [
      object({ kind: "load balancer", name: `kube_service_${inCloud}_default_web` }),
      object({
        kind: "floating IP",
        description: `Floating IP for Kubernetes external service default/web from cluster ${inCloud}`,
      }),
      object({
        kind: "security group",
        name: "lb-sg-0001-default-web",
        description: `Security Group for default/web Service LoadBalancer in cluster ${inCloud}`,
      }),
      ...(["volume", "volume snapshot"] as const).map((kind) =>
        object({ kind, metadata: { "cinder.csi.openstack.org/cluster": inCloud } }),
      ),
    ].map((one) => getOwnership(one));
    assert.deepEqual(claims, [
      { mark, claim: "load balancer of a Service" },
      { mark, claim: "floating IP of a Service" },
      { mark, claim: "security group of a Service" },
      { mark, claim: "volume of a PersistentVolume" },
      { mark, claim: "snapshot of a PersistentVolume" },
    ]);
  });

  it("returns nothing for an equal name alone, because foreign objects may have it", () => {
    assert.equal(getOwnership(object({ name: "dev-control-plane-0" })), undefined);
    assert.equal(getOwnership(object({ kind: "network", name: "dev" })), undefined);
    for (const description of ["Part of cluster dev", `DNS of cluster ${inCloud}`, inCloud])
      for (const kind of neutrons)
        assert.equal(getOwnership(object({ kind, description })), undefined);
    for (const name of ["dev-general", inCloud, `general.${inCloud}`])
      assert.equal(getOwnership(object({ kind: "server group", name })), undefined);
    const another = object({ kind: "load balancer", name: "kube_service_dev_default_web" });
    assert.equal(getOwnership(another), undefined);
  });

  it("returns nothing for a cluster's name without an identity", () => {
    for (const more of [[], ["stackadm-identity=dev"]])
      assert.equal(
        getOwnership(object({ kind: "network", tags: ["stackadm-cluster=dev", ...more] })),
        undefined,
      );
  });

  it("returns the identity from every field that contains it, for any cluster name", () => {
    const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,26}[a-z0-9])?$/);
    const random = fc.stringMatching(/^[0-9a-f]{12}$/);
    fc.assert(
      fc.property(fc.constantFrom(...inventoryKinds), label, random, (kind, name, identity) => {
        const one = { name, identity };
        const marked = object({
          kind,
          name: `kube_service_${getNameInCloud(one)}_ns_web`,
          description:
            kind === "application credential"
              ? getCredentialDescription(one)
              : `Floating IP for Kubernetes external service ns/web from cluster ${getNameInCloud(one)}`,
          metadata: { "cinder.csi.openstack.org/cluster": getNameInCloud(one) },
        });
        const own = object({ kind, tags: getClusterTags(one) });
        const first = object({
          kind,
          name: getServerGroupName(one, "general"),
          description: getClusterDescription(one, "What it is"),
        });
        const said = [marked, own, first].map(getOwnership).filter((known) => known);
        assert.ok(said.length > 0 || kind === "application credential");
        for (const ownership of said) assert.deepEqual(ownership?.mark, one);
      }),
    );
  });
});

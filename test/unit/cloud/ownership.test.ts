import assert from "node:assert/strict";
import fc from "fast-check";
import { kinds } from "../../../cloud/inventory.js";
import { claimOn, clusterTag, credentialDescription } from "../../../cloud/ownership.js";
import { object } from "../../support/cloud-object.js";

describe("whose an object is", () => {
  it("is ours by tag, metadata or description", () => {
    const marked = "marked by stackadm";
    assert.equal(
      claimOn(object({ kind: "network", tags: ["x", clusterTag("dev")] }), "dev"),
      marked,
    );
    assert.equal(claimOn(object({ metadata: { "stackadm-cluster": "dev" } }), "dev"), marked);
    const credential = object({
      kind: "application credential",
      description: credentialDescription("dev"),
    });
    assert.equal(claimOn(credential, "dev"), marked);
  });

  it("is the cloud controller's by the names and descriptions it gives", () => {
    const balancer = object({ kind: "load balancer", name: "kube_service_dev_default_web" });
    assert.equal(claimOn(balancer, "dev"), "load balancer of a Service");
    const address = object({
      kind: "floating IP",
      description: "Floating IP for Kubernetes external service default/web from cluster dev",
    });
    assert.equal(claimOn(address, "dev"), "floating IP of a Service");
    const group = object({
      kind: "security group",
      name: "lb-sg-0001-default-web",
      description: "Security Group for default/web Service LoadBalancer in cluster dev",
    });
    assert.equal(claimOn(group, "dev"), "security group of a Service");
  });

  it("is the storage driver's by its metadata", () => {
    const volume = object({
      kind: "volume",
      metadata: { "cinder.csi.openstack.org/cluster": "dev" },
    });
    assert.equal(claimOn(volume, "dev"), "volume of a PersistentVolume");
    assert.equal(claimOn(volume, "de"), undefined);
  });

  it("is nobody's by its name alone: a foreign machine may be called like ours", () => {
    assert.equal(claimOn(object({ name: "dev-control-plane-0" }), "dev"), undefined);
    assert.equal(claimOn(object({ kind: "network", name: "dev" }), "dev"), undefined);
  });

  it("does not mix up clusters whose names begin alike", () => {
    const balancer = object({ kind: "load balancer", name: "kube_service_dev-2_default_web" });
    assert.equal(claimOn(balancer, "dev"), undefined);
    const address = object({
      kind: "floating IP",
      description: "Floating IP for Kubernetes external service default/web from cluster my-dev",
    });
    assert.equal(claimOn(address, "dev"), undefined);
  });

  it("never claims an object that carries another cluster's marks", () => {
    const label = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/);
    fc.assert(
      fc.property(fc.constantFrom(...kinds), label, label, (kind, one, other) => {
        fc.pre(one !== other);
        const marked = object({
          kind,
          name: `kube_service_${one}_ns_web`,
          tags: [clusterTag(one)],
          description: `Floating IP for Kubernetes external service ns/web from cluster ${one}`,
          metadata: { "cinder.csi.openstack.org/cluster": one, "stackadm-cluster": one },
        });
        assert.notEqual(claimOn(marked, one), undefined);
        assert.equal(claimOn(marked, other), undefined);
      }),
    );
  });
});

import assert from "node:assert/strict";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import { runPreflightChecks } from "../../../../openstack/checks/preflight-checks.js";
import { parseClusterSpec } from "../../../../components/config/cluster-spec.js";
import { getClusterRequirements } from "../../../../components/cloud-requirements.js";
import { fakeProject, fakeUser, startFakeCloud } from "../../../support/cloud/fake-openstack.js";
import { prepareReadyCloud } from "../../../support/cloud/ready-cluster.js";
import { smallest } from "../../../support/config/spec.js";

const [controlPlane, flavor] = [{ flavor: "k8s-control-plane" }, "k8s-worker"];
const needs = (over: object) => {
  const workers = { general: { flavor, count: 1 } };
  const result = parseClusterSpec({ ...smallest, controlPlane, workers, ...over });
  assert.ok("spec" in result, JSON.stringify(result));
  return getClusterRequirements(result.spec);
};

describe("preflight checks of access and settings", () => {
  it("report a restricted credential, unless the user supplies one or the stack has one", async () => {
    const cloud = await startFakeCloud({ restricted: true });
    prepareReadyCloud(cloud);
    const ask = async (over: object, owned: readonly string[], hasCredential = false) => {
      const client = await connectCloud({ env: cloud.environment() });
      const held = { owned: new Set(owned), hasCredential };
      const findings = await runPreflightChecks(client, needs(over), held);
      return findings.map(({ text }) => text);
    };
    try {
      assert.match(
        (await ask({}, [])).join(),
        /^credential: your application credential is restricted/,
      );
      assert.deepEqual(await ask({ credential: { id: "i", secret: {} } }, []), []);
      assert.deepEqual(await ask({ credential: { username: "u", password: {} } }, []), []);
      assert.match(
        (await ask({}, ["1"])).join(),
        /^credential: your application credential is restricted/,
      );
      assert.deepEqual(await ask({}, ["1"], true), []);
    } finally {
      await cloud.close();
    }
  });

  for (const status of [403, 404])
    it(`report what to write if Keystone refuses application credentials (${status})`, async () => {
      const cloud = await startFakeCloud();
      prepareReadyCloud(cloud);
      const path = `/identity/v3/users/${fakeUser}/application_credentials`;
      cloud.on(`GET ${path}`, { status });
      const ask = async (over: object) => {
        const client = await connectCloud({ env: cloud.environment() });
        const findings = await runPreflightChecks(client, needs(over));
        return findings.map(({ severity, text }) => `${severity}: ${text}`);
      };
      try {
        assert.deepEqual(await ask({}), [
          "problem: credential: this cloud's Keystone offers no application credentials, or does not allow you one; write credential.username, credential.userDomainName and credential.password of a user with the roles member and load-balancer_member in the project",
        ]);
        const hidden =
          "warning: application credential: the cloud does not show them to you, so they were not checked";
        assert.deepEqual(
          await ask({ credential: { username: "u", password: {} } }),
          status === 403 ? [hidden] : [],
        );
      } finally {
        await cloud.close();
      }
    });

  it("warn about port settings that Neutron refuses by default in another project's network", async () => {
    const cloud = await startFakeCloud();
    prepareReadyCloud(cloud);
    const warned = async (project: string, podNetwork: string): Promise<string[]> => {
      const networks = [{ id: "n", name: "office", project_id: project }];
      cloud.on("GET /network/networks", { body: { networks } });
      const wanted = needs({ network: { existing: { network: "office" } }, podNetwork });
      const client = await connectCloud({ env: cloud.environment() });
      const findings = await runPreflightChecks(client, { ...wanted, externalNetworks: {} });
      return findings.map(({ severity, text }) => `${severity}: ${text}`);
    };
    try {
      assert.deepEqual(await warned(fakeProject, "kube-router"), []);
      assert.deepEqual(await warned("another", "flannel"), []);
      assert.deepEqual(await warned("another", "kube-router"), [
        "warning: network.existing.network: 'office' belongs to another project, and Neutron refuses ports there, unless the cloud's operator allows them, for podNetwork kube-router; write others, like podNetwork flannel, or ask the operator",
      ]);
    } finally {
      await cloud.close();
    }
  });

  it("compare the zones of volumes with Cinder's", async () => {
    const cloud = await startFakeCloud();
    prepareReadyCloud(cloud);
    const zone = (zoneName: string) => ({ zoneName, zoneState: { available: true } });
    cloud.on("GET /volumev3/os-availability-zone", {
      body: { availabilityZoneInfo: [zone("nova"), zone("zone-a")] },
    });
    const ask = async (over: object) => {
      const client = await connectCloud({ env: cloud.environment() });
      const findings = await runPreflightChecks(client, needs(over));
      return findings.map(({ severity, text }) => `${severity}: ${text}`);
    };
    try {
      assert.deepEqual(await ask({ zones: ["zone-a"] }), []);
      const zones = ["zone-a", "zone-b"];
      assert.deepEqual(await ask({ zones }), [
        "warning: storageClasses: machines are in zone-b, which are not zones of Cinder (nova, zone-a): volumes could not be created; set blockStorage.topology to false",
      ]);
      assert.deepEqual(await ask({ zones, blockStorage: { topology: false } }), []);
      const classes = ["nova", "other"].map((name) => ({ name, availability: name }));
      assert.deepEqual(await ask({ zones, storageClasses: classes }), [
        "problem: storageClasses.availability: Cinder has no zone 'other'; there are: nova, zone-a",
      ]);
    } finally {
      await cloud.close();
    }
  });

  it("skip Octavia for a cluster without load balancers", async () => {
    const cloud = await startFakeCloud({
      services: ["compute", "network", "image", "volumev3"],
    });
    prepareReadyCloud(cloud);
    try {
      const client = await connectCloud({ env: cloud.environment() });
      assert.deepEqual(
        await runPreflightChecks(client, needs({ loadBalancer: { enabled: false } })),
        [],
      );
      const [found] = await runPreflightChecks(
        client,
        needs({ endpoint: { kind: "load-balancer" } }),
      );
      assert.match(found?.text ?? "", /^load balancers: the cloud offers no load-balancer service/);
    } finally {
      await cloud.close();
    }
  });

  it("require Barbican if a setting names a certificate in Barbican", async () => {
    const services = ["compute", "network", "image", "volumev3", "load-balancer"];
    const cloud = await startFakeCloud({ services });
    prepareReadyCloud(cloud);
    const ref = { defaultTlsContainerRef: "https://barbican.example.org/v1/containers/1" };
    const annotations = {
      "loadbalancer.openstack.org/default-tls-container-ref": ref.defaultTlsContainerRef,
    };
    const ask = async (over: object) => {
      const client = await connectCloud({ env: cloud.environment() });
      return (await runPreflightChecks(client, needs(over))).map(({ text }) => text);
    };
    try {
      assert.match(
        (await ask({ loadBalancer: ref })).join(),
        /^loadBalancer\.defaultTlsContainerRef: the cloud offers no key-manager service/,
      );
      assert.match(
        (await ask({ sampleServices: { annotations } })).join(),
        /^sampleServices\.annotations\.loadbalancer\.openstack\.org\/default-tls-container-ref: the cloud offers no key-manager/,
      );
      assert.deepEqual(await ask({ loadBalancer: { ...ref, containerStore: "external" } }), []);
      assert.deepEqual(await ask({}), []);
    } finally {
      await cloud.close();
    }
  });
});

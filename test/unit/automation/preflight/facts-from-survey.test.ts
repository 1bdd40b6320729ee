import assert from "node:assert/strict";
import { factsFromSurvey } from "../../../../automation/preflight/facts-from-survey.js";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import { survey } from "../../../../openstack/checks/preflight-checks.js";
import type { ClusterArgs } from "../../../../components/config/cluster-spec.js";
import { cloudRequirementsOf, requiredLookups } from "../../../../components/cloud-requirements.js";
import type { CloudFacts } from "../../../../components/lookup/cloud-lookup.js";
import {
  fakeProject,
  startFakeCloud,
  type FakeCloud,
} from "../../../support/cloud/fake-openstack.js";
import { equip } from "../../../support/cloud/ready-cluster.js";
import { smallest, specOf } from "../../../support/config/spec.js";

describe("what a survey of the cloud knows for the program", () => {
  let cloud: FakeCloud;
  beforeEach(async () => {
    const services = ["compute", "network", "image", "volumev3", "load-balancer", "identity"];
    cloud = await startFakeCloud({ services });
    equip(cloud);
  });
  afterEach(() => cloud.close());
  const facts = async (
    changes: Partial<ClusterArgs> = {},
    identities: readonly string[] = [],
  ): Promise<CloudFacts | undefined> => {
    const spec = specOf({
      ...smallest,
      controlPlane: { flavor: "k8s-control-plane" },
      workers: { general: { flavor: "k8s-worker", count: 1 } },
      ...changes,
    });
    const client = await connectCloud({ env: cloud.environment() });
    const held = { owned: new Set<string>(), identities: new Set(identities) };
    return factsFromSurvey(
      await survey(client, cloudRequirementsOf(spec)),
      requiredLookups(spec),
      client.scope,
      held,
    );
  };
  const server = (
    name: string,
    metadata: Readonly<Record<string, string>>,
    status = "ACTIVE",
  ): void => {
    const servers = [{ id: "s", name, status, metadata }];
    cloud.on("GET /compute/servers/detail", { body: { servers } });
  };

  // test/engine/automation/no-op.test.ts compares these facts with the plugin's own answers.
  it("is everything that it would look up", async () => {
    server("dev-general-0", { "stackadm-cluster": "dev", "stackadm-generation": "2" });
    assert.deepEqual(await facts(), {
      imageIds: { "debian-12": "i" },
      externalNetworkId: "e",
      externalNetworkName: "public",
      flavorIds: { "k8s-control-plane": "k8s-control-plane", "k8s-worker": "k8s-worker" },
      scope: {
        authUrl: `${cloud.authUrl}/v9/v3`,
        region: "one",
        projectId: fakeProject,
        roles: ["load-balancer_member", "member", "reader"],
      },
      servers: { "dev-general-0": { id: "s", generation: "2", failed: false } },
    });
  });

  it("is the external network of the services besides, where they have a network of their own", async () => {
    const found = await facts({ loadBalancer: { network: { externalNetwork: "public" } } });
    assert.deepEqual(found?.servicesExternalNetwork, { id: "e", name: "public" });
  });

  it("is nothing where the cluster uses what exists, which only the program looks up", async () => {
    for (const changes of [
      { network: { existing: { network: "public" } } },
      { network: { securityGroups: ["office"] } },
      { endpoint: { kind: "floating-ip", floatingIp: "203.0.113.9" } },
    ] satisfies Partial<ClusterArgs>[])
      assert.equal(await facts(changes), undefined, JSON.stringify(changes));
  });

  it("is nothing where something is missing", async () => {
    assert.equal(await facts({ image: "debian-13" }), undefined);
    assert.equal(await facts({ externalNetwork: "private" }), undefined);
  });

  it("is nothing while a server is marked, because the program judges that", async () => {
    server("dev-general-0", { "stackadm-cluster": "dev", "stackadm-never-answered": "s" });
    assert.equal(await facts(), undefined);
  });

  it("is nothing while a server is in a power state on which the program judges, too", async () => {
    for (const [status, isKnown] of [
      ["SHUTOFF", true],
      ["MIGRATING", false],
      ["ERROR", false],
    ] as const) {
      server("dev-general-0", { "stackadm-cluster": "dev" }, status);
      assert.equal((await facts()) !== undefined, isKnown, status);
    }
  });

  it("knows a server by its identity, and none of another cluster of the same name, marked or not", async () => {
    const identity = "0123456789ab";
    const marks = { "stackadm-cluster": "dev", "stackadm-identity": identity };
    server("dev-general-0", { ...marks, "stackadm-generation": "2" });
    const servers = { "dev-general-0": { id: "s", generation: "2", failed: false } };
    assert.deepEqual((await facts({}, [identity]))?.servers, servers);
    for (const identities of [[], ["ba9876543210"]])
      assert.deepEqual((await facts({}, identities))?.servers, {});
    server("dev-general-0", { ...marks, "stackadm-never-answered": "s" });
    assert.deepEqual((await facts({}, ["ba9876543210"]))?.servers, {});
    assert.equal(await facts({}, [identity]), undefined);
  });
});

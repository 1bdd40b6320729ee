import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import {
  createListeningService,
  type ListeningService,
} from "../../support/engine/listening-service.js";
import { StackOperation } from "../../../automation/engine/operation-context.js";
import {
  emptyProject,
  startFakeCloud,
  type FakeCloud,
} from "../../support/cloud/fake-openstack.js";
import { ServiceProject } from "../support/service-project.js";
import { keyPair, SshServer } from "../support/ssh-server.js";

const modules = resolve(__dirname, "..", "..", "..", "node_modules");
const tags = ["stackadm-cluster=dev", "stackadm-identity=0123456789ab"];
/**
 * Program with a cluster's load balancer, the parts of the load balancer, and resources that depend
 * on them. The program also has a machine that runs a leave script and a teardown script.
 */
const program = `
const pulumi = require(${JSON.stringify(join(modules, "@pulumi/pulumi"))});
const command = require(${JSON.stringify(join(modules, "@pulumi/command"))});
const { loadbalancer: octavia } = require(${JSON.stringify(join(modules, "@pulumi/openstack"))});
module.exports = async () => {
  const parent = new pulumi.ComponentResource("stackadm:index:Cluster", "dev");
  const identity = new command.local.Command("dev-identity", { create: "printf 0123456789ab" }, { parent });
  const name = "dev-api";
  const balancer = new octavia.LoadBalancer(name, { name, vipSubnetId: "subnet", tags: ${JSON.stringify(tags)} }, { parent, dependsOn: [identity], deleteBeforeReplace: true });
  const listener = new octavia.Listener(name, { name, loadbalancerId: balancer.id, protocol: "TCP", protocolPort: 6443 }, { parent });
  const pool = new octavia.Pool(name, { name, listenerId: listener.id, protocol: "TCP", lbMethod: "LEAST_CONNECTIONS" }, { parent });
  const server = new command.local.Command("server", { create: "true" }, { parent });
  const { PORT, KEY, HOST_KEY } = process.env;
  const connection = { host: "127.0.0.1", port: Number(PORT), privateKey: KEY, hostKey: HOST_KEY, dialErrorLimit: 1 };
  const onMachine = (step, options) => new command.remote.Command(step, { connection, delete: "echo " + step }, { parent, ...options });
  const leave = onMachine("leave", { dependsOn: [server], deletedWith: server });
  const member = new octavia.Member(name, { name, poolId: pool.id, address: "10.0.0.5", protocolPort: 6443 }, { parent, dependsOn: [leave] });
  new command.local.Command("child", { create: "true" }, { parent: balancer });
  onMachine("teardown", { dependsOn: [server, leave] });
  const first = new command.local.Command("first", { create: "true", environment: { OF: member.id } }, { parent });
  new command.local.Command("second", { create: "true" }, { parent, dependsOn: [first] });
  return { balancer: balancer.id };
};
`;

type Made = Readonly<Record<string, unknown>> & { readonly id: string };

/**
 * Fake Octavia for the OpenStack provider. Like the real Octavia, it refuses to change or delete
 * parts of a load balancer in ERROR.
 */
class Octavia {
  status = "ACTIVE";
  made = new Map<string, Made>();
  refused = 0;
  cascades = 0;
  private count = 0;

  constructor(private readonly cloud: FakeCloud) {
    this.collect("loadbalancers", "loadbalancer", { vip_port_id: "port", vip_address: "10.0.0.9" });
    this.collect("listeners", "listener", {});
    this.collect("pools", "pool", {});
    const port = { id: "port", security_groups: [], fixed_ips: [] };
    cloud.on("GET /network/v2.0/ports/port", { body: { port } });
    cloud.on("GET /load-balancer/lbaas/loadbalancers", () => ({
      body: { loadbalancers: [...this.made.values()].filter(({ key }) => key === "loadbalancer") },
    }));
  }

  private goneAnswer(id: string) {
    return this.made.has(id) ? undefined : { status: 404 };
  }

  /** Answers the requests for a collection and its objects. */
  private collect(
    collection: string,
    key: string,
    more: object,
    path = `lbaas/${collection}`,
  ): void {
    const { cloud } = this;
    cloud.on(`POST /load-balancer/v2.0/${path}`, ({ body }) => {
      this.count += 1;
      const id = `${key}-${String(this.count)}`;
      const given = (body as Record<string, Record<string, unknown>>)[key];
      const parents = this.parentsOf(given ?? {});
      const made = { ...more, ...parents, ...given, id, key, provisioning_status: "ACTIVE" };
      this.made.set(id, made);
      this.serve(`${path}/${id}`, id, key);
      if (key === "pool") this.collect("members", "member", {}, `lbaas/pools/${id}/members`);
      return { status: 201, body: { [key]: made } };
    });
  }

  private parentsOf(given: Readonly<Record<string, unknown>>): object {
    const balancers = [...this.made.values()].filter(({ key }) => key === "loadbalancer");
    const listener = given["listener_id"];
    return {
      loadbalancers: balancers.map(({ id }) => ({ id })),
      ...(listener !== undefined && { listeners: [{ id: listener }] }),
    };
  }

  private serve(path: string, id: string, key: string): void {
    const { cloud } = this;
    const show = () => {
      const made = { ...this.made.get(id), provisioning_status: this.status };
      return this.goneAnswer(id) ?? { body: { [key]: made } };
    };
    for (const version of ["/v2.0", ""]) {
      cloud.on(`GET /load-balancer${version}/${path}`, show);
      cloud.on(`DELETE /load-balancer${version}/${path}`, ({ path: asked }) => {
        const cascade = asked.endsWith("?cascade=true");
        if (this.status === "ERROR" && !cascade) {
          this.refused += 1;
          return { status: 409, body: { faultstring: "it is immutable and cannot be updated." } };
        }
        this.made.delete(id);
        if (cascade) {
          this.cascades += 1;
          this.made.clear();
          this.status = "ACTIVE";
        }
        return { status: 204 };
      });
    }
  }
}

const bare = { preflight: false, verify: false, kubeconfigFile: false } as const;

describe("a load balancer in ERROR with a real engine and the OpenStack provider", function () {
  this.timeout(240_000);
  let cloud: FakeCloud;
  let octavia: Octavia;
  let project: ServiceProject;
  let service: ListeningService;
  let machine: SshServer;
  const key = keyPair();
  const kinds = (): string[] =>
    [...octavia.made.keys()].map((id) => id.replace(/-\d+$/, "")).sort();
  const all = ["listener", "loadbalancer", "member", "pool"];

  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
    octavia = new Octavia(cloud);
    const environment = cloud.environment({
      OS_AUTH_URL: `${cloud.authUrl}/v3`,
      OS_DOMAIN_NAME: "Default",
    });
    machine = await SshServer.start({ authorizedKeys: [key.public] });
    const { hostKey: HOST_KEY, port } = machine;
    const way = { PORT: String(port), KEY: key.private, HOST_KEY };
    const variables = { ...environment, ...way, OS_CLOUD: undefined };
    project = new ServiceProject("balancers", program, variables);
    service = createListeningService(project.service);
    await service.up("dev", bare);
    assert.deepEqual(kinds(), all);
  });
  afterEach(async () => {
    await cloud.close();
    await machine.stop();
    project.remove();
  });
  const parentOf = async (name: string): Promise<string | undefined> =>
    (await service.state("dev"))?.deployment.resources
      ?.find(({ urn }) => urn.endsWith(`::${name}`))
      ?.parent?.replace(/.*::/, "");
  const balancer = async (): Promise<unknown> => (await service.outputs("dev"))["balancer"];

  it("is recreated by the next up, and a further up changes nothing", async () => {
    const before = await balancer();
    octavia.status = "ERROR";
    await service.up("dev", bare);
    assert.deepEqual([kinds(), octavia.cascades, octavia.refused], [all, 1, 0]);
    assert.notEqual(await balancer(), before);
    assert.equal(await parentOf("child"), "dev-api");
    await service.up("dev", { ...bare, expectNoChanges: true });
  });

  it("is deleted at destroy after the teardown script, without leave scripts", async () => {
    octavia.status = "ERROR";
    const deleted: string[] = [];
    await service.destroy("dev", {
      onEvent: (event) => {
        if (event.type === "resource" && event.state === "started") deleted.push(event.name);
      },
    });
    assert.deepEqual([kinds(), octavia.cascades, octavia.refused], [[], 1, 0]);
    assert.deepEqual([machine.commands, deleted[0]], [["echo teardown"], "teardown"]);
    assert.equal(await service.state("dev"), undefined);
  });

  it("does not block a destroy after a deletion outside of Pulumi", async () => {
    octavia.made.clear();
    await service.destroy("dev");
    assert.equal(await service.state("dev"), undefined);
  });

  it("remains when the engine destroys a targeted resource with its dependents", async () => {
    const urns = async (): Promise<string[]> =>
      ((await service.state("dev"))?.deployment.resources ?? []).map(({ urn }) => urn);
    const target = (await urns()).filter((urn) => urn.endsWith("::first"));
    assert.equal(target.length, 1);
    await new StackOperation(project.service, "dev").runEngine("destroy", { target });
    const left = (await urns()).map((urn) => urn.split("::").at(-1));
    assert.ok(!left.includes("first") && !left.includes("second"), left.join(" "));
    assert.deepEqual(kinds(), all);
    await service.up("dev", bare);
    await service.destroy("dev");
    assert.deepEqual(kinds(), []);
  });
});

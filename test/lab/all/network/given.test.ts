import assert from "node:assert/strict";
import { z } from "zod";
import { takeInventory } from "../../../../openstack/inventory/inventory.js";
import { listAll } from "../../../../openstack/client/paginate.js";
import { givenObjects, type ExistingObjects } from "../../support/cloud/given.js";
import { kubectlOn } from "../../support/kubernetes/kubectl.js";
import { inServer } from "../../support/machines/machines.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;
const ports = {
  key: "ports",
  schema: z.object({
    device_id: z.string(),
    security_groups: z.array(z.string()),
    fixed_ips: z.array(z.object({ ip_address: z.string() })),
  }),
};
const groups = {
  key: "security_groups",
  schema: z.object({ id: z.string(), name: z.string() }),
};

describe("a cluster with existing addresses, security group and second network, on the lab", function () {
  this.timeout(10 * minutes);
  const stack = new Stack("given");
  let given: ExistingObjects;
  let untouched: unknown;
  const changed = (): Readonly<Record<string, unknown>> => ({
    network: { admin: { network: given.name, allowedCidrs: [given.range] } },
    endpoint: { kind: "floating-ip", floatingIp: given.floatingIp },
    sampleServices: { address: given.serviceFloatingIp },
    controlPlane: {
      flavor: "k8s-control-plane",
      count: 1,
      nodes: { 0: { address: "10.0.0.20" } },
    },
    workers: {
      general: {
        flavor: "k8s-worker",
        count: 1,
        securityGroups: [given.name],
        nodes: { 0: { address: "10.0.0.30" } },
      },
    },
  });
  const portsOf = async (serverId: string) =>
    (await listAll(stack.cluster.cloud, "network", "/ports", ports)).filter(
      (port) => port.device_id === serverId,
    );
  const inAdmin = async (machine: string): Promise<string> => {
    const found = await portsOf(stack.serverOf(machine));
    const addresses = found.flatMap(({ fixed_ips: all }) => all.map((one) => one.ip_address));
    return addresses.find((one) => one.startsWith("10.78.0.")) ?? "";
  };
  const groupsOf = async (machine: string) => {
    const { cloud } = stack.cluster;
    const all = await listAll(cloud, "network", "/security-groups", groups);
    const ids = (await portsOf(stack.serverOf(machine))).flatMap((port) => port.security_groups);
    return all.filter(({ id }) => ids.includes(id));
  };
  before(async () => {
    await stack.open();
    given = await givenObjects(stack.cluster.cloud, "given-before");
    stack.initially = await takeInventory(stack.cluster.cloud);
    untouched = await given.state();
  });
  after(async () => {
    await given.remove();
    await stack.cluster.close();
  });

  it("starts and works with its API at the floating IP", async () => {
    await stack.up(changed());
    await stack.prove(1);
    assert.equal(new URL(stack.outputs.apiEndpoint).hostname, given.floatingIp);
  });

  it("serves its external Service at the configured floating IP", async () => {
    const address = stack.outputs.samples?.external ?? "";
    assert.equal(address, given.serviceFloatingIp);
    assert.ok((await fetch(`http://${address}/`)).ok);
  });

  it("uses the configured machine addresses, also for its nodes", async () => {
    const addresses = stack.outputs.nodes.map(({ address }) => address).sort();
    assert.deepEqual(addresses, ["10.0.0.20", "10.0.0.30"]);
    const path = `{.items[*].status.addresses[?(@.type=="InternalIP")].address}`;
    const seen = await kubectlOn(
      stack.serverOf("control-plane-0"),
      `get nodes -o jsonpath='${path}'`,
    );
    assert.deepEqual(seen.trim().split(" ").sort(), addresses);
  });

  it("gives each machine a second interface without default route and name servers", async () => {
    for (const machine of ["control-plane-0", "general-0"]) {
      const server = stack.serverOf(machine);
      const address = await inAdmin(machine);
      assert.match(await inServer(server, "ip -4 -o address"), new RegExp(` ${address}/24 `));
      const routes = (await inServer(server, "ip -4 route")).trim().split("\n");
      assert.equal(routes.filter((line) => line.startsWith("default ")).length, 1);
      assert.ok(!routes.some((line) => line.includes("10.78.0.")), routes.join("\n"));
      const servers = await inServer(server, "cat /run/systemd/resolve/resolv.conf");
      assert.match(servers, /^nameserver 10\.0\.0\./m);
      assert.doesNotMatch(servers, /10\.78\./);
    }
  });

  it("blocks connections between machines over the second network", async () => {
    const [mine, theirs] = [await inAdmin("control-plane-0"), await inAdmin("general-0")];
    const words = `--max-time 3 --interface ${mine} telnet://${theirs}:22`;
    const seen = await inServer(
      stack.serverOf("control-plane-0"),
      `sleep 2 | curl -s ${words} || :`,
    );
    assert.equal(seen, "");
    // Tries the same connection to a destination that answers: the SSH server of the machine
    // itself.
    const own = `sleep 2 | curl -s --max-time 3 telnet://${mine}:22 || :`;
    assert.match(await inServer(stack.serverOf("control-plane-0"), own), /^SSH-2\.0/);
  });

  it("adds the existing security group only to the worker's port", async () => {
    const group = (await groupsOf("general-0")).filter(({ name }) => name === given.name);
    assert.equal(group.length, 1);
    assert.ok(!(await groupsOf("control-plane-0")).some(({ name }) => name === given.name));
  });

  it("has no changes on a second `up`, and keeps the existing objects unchanged", async () => {
    await stack.again(changed());
    assert.deepEqual(await given.state(), untouched);
  });

  it("is destroyed without leftovers, and keeps the existing objects unchanged", async () => {
    await stack.destroyAndLookAround();
    assert.deepEqual(await given.state(), untouched);
  });
});

import assert from "node:assert/strict";
import { getFiguresOfComparedTool, getScaleFigures } from "../../support/scale/figures.js";
import { FakeProject } from "../../support/scale/fake-openstack-project.js";
import type { Figures } from "../../support/statistics.js";
import { keyPair } from "../../../../test/engine/support/ssh-server.js";
import type { Fields } from "../../../../test/support/graph/graph.js";

const outside = { machines: "203.0.113.1", balancer: "203.0.113.2" };

/**
 * Returns a fake project and functions that send requests to it. `ask` returns the body of the
 * answer.
 */
function project() {
  const fake = new FakeProject(outside, { id: "e", name: "public" });
  const ask = (method: string, path: string, body?: unknown): Fields =>
    (fake.answer({ method, path, headers: {}, body })?.body ?? {}) as Fields;
  const make = (path: string, key: string, asked: object): Fields =>
    ask("POST", path, { [key]: asked })[key] as Fields;
  return { fake, ask, make };
}

/** Creates a server with its own port. */
function machine({ make }: ReturnType<typeof project>, name: string) {
  const port = make("/network/v2.0/ports", "port", { name, fixed_ips: [{ subnet_id: "s" }] });
  const hostKey = keyPair().private;
  const data = JSON.stringify({ ssh_keys: { ed25519_private: hostKey } });
  const user_data = Buffer.from(`#cloud-config\n${data}`).toString("base64");
  const asked = { name, user_data, networks: [{ port: port["id"] }] };
  return { port, hostKey, server: make("/compute/servers", "server", asked) };
}

const addressOf = ({ fixed_ips }: Fields): string =>
  (fixed_ips as readonly { ip_address: string }[])[0]?.ip_address ?? "";

describe("FakeProject", () => {
  it("finds each machine by the address of its port, with the machine's host key", () => {
    const given = project();
    const [one, two] = [machine(given, "one"), machine(given, "two")];
    assert.notEqual(addressOf(one.port), addressOf(two.port));
    for (const { port, hostKey, server } of [one, two]) {
      const host = given.fake.hostAt(addressOf(port));
      assert.deepEqual([host?.hostKey, host?.serverId], [hostKey, server["id"]]);
    }
  });

  it("treats the machine with a floating IP as entry, and assigns the load balancer another address", () => {
    const given = project();
    const [{ port }] = [machine(given, "one"), machine(given, "two")];
    const description = "Load balancer of the Kubernetes API. Part of cluster dev";
    const vip = given.make("/network/ports", "port", { description, fixed_ips: [{}] });
    const addresses = [vip, port].map(({ id }) =>
      given.make("/network/floatingips", "floatingip", { port_id: id }),
    );
    assert.deepEqual(
      addresses.map((one) => one["floating_ip_address"]),
      [outside.balancer, outside.machines],
    );
    assert.equal(given.fake.entry?.name, "one");
  });

  it("filters lists, stores tags and removes deleted objects", () => {
    const { ask, make } = project();
    const { id } = make("/network/routers", "router", { name: "a" }) as { id: string };
    make("/network/routers", "router", { name: "b" });
    ask("PUT", `/network/v2.0/routers/${id}/tags`, { tags: ["mine"] });
    const named = (): Fields[] =>
      ask("GET", "/network/routers?name=a&limit=9")["routers"] as Fields[];
    assert.deepEqual(
      named().map(({ tags }) => tags),
      [["mine"]],
    );
    ask("DELETE", `/network/routers/${id}`);
    assert.deepEqual(named(), []);
    assert.equal(
      new FakeProject(outside, { id: "e" }).answer({
        method: "GET",
        path: "/x",
        headers: {},
        body: undefined,
      }),
      undefined,
    );
  });
});

describe("getScaleFigures", () => {
  it("returns figures for each process, and per machine", () => {
    const seen = (what: string, cpu: number, peak: number) => ({ what, cpu, peak, from: 0, to: 1 });
    const figures = getScaleFigures(
      {
        wall: 10_000,
        output: "",
        processes: [
          seen("bin/node cli/stackadm.mjs up", 1_000, 1_024),
          seen("bin/node engine/worker.js", 2_000, 2_048),
          seen("x/pulumi up --yes --parallel 64", 3_000, 4_096),
          seen("x/pulumi stack export", 500, 8_192),
        ],
      },
      4,
    );
    assert.equal(figures["resources at once"], 64);
    assert.equal(figures["CPU of all, s"], 6.5);
    assert.equal(figures["CPU of engine, s"], 3);
    assert.equal(figures["memory of engine, MB"], 4);
    assert.equal(figures["memory of program, MB"], 2);
    assert.equal(figures["CPU of engine and program a machine, ms"], 1_250);
    assert.equal(figures["wall a machine, ms"], 2_500);
  });
});

describe("getPeerFigures", () => {
  it("separates the core processes from their plugins and other child processes", () => {
    const seen = (what: string, cpu: number, peak: number) => ({ what, cpu, peak, from: 0, to: 1 });
    const ran = (...processes: ReturnType<typeof seen>[]) =>
      getFiguresOfComparedTool({ wall: 10_000, output: "", processes });
    const terraform = ran(
      seen("test-tools/terraform-1.11.4-ab12 apply -auto-approve", 2_000, 2_048),
      seen("linux_amd64/terraform-provider-openstack_v1.54.1", 1_000, 1_024),
      seen("ssh-keygen -q -s keys/signer", 500, 1_024),
    );
    const ours = ran(
      seen("bin/node cli/stackadm.mjs up", 1_000, 1_024),
      seen("bin/node engine/worker.js", 2_000, 2_048),
      seen("x/pulumi up --yes --parallel 64", 3_000, 4_096),
      seen("x/pulumi-resource-openstack", 500, 8_192),
    );
    const shares = (figures: Figures) =>
      ["CPU of all, s", "CPU of core, s", "CPU of plugins, s", "memory of core, MB"].map(
        (key) => figures[key],
      );
    assert.deepEqual(shares(terraform), [3.5, 2, 1, 2]);
    assert.deepEqual(shares(ours), [6.5, 6, 0.5, 7]);
  });
});

import assert from "node:assert/strict";
import { until } from "../../support/cloud/foreign.js";
import { applied, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { inServer } from "../../support/machines/machines.js";
import { connect, connectPods, webPods, type Pod } from "../../support/kubernetes/pods.js";
import { answers } from "../../support/network/reach.js";
import { Stack } from "../../support/stack/stack.js";
import { nonEmpty } from "../../../support/non-empty.js";

const minutes = 60_000;
const samples = "-n stackadm-samples";
const ipv6 = { nodes: "fd00:10::/64" };
const service = `
apiVersion: v1
kind: Service
metadata: {name: both, namespace: stackadm-samples}
spec:
  ipFamilyPolicy: RequireDualStack
  ipFamilies: [IPv4, IPv6]
  selector: {app.kubernetes.io/name: web}
  ports: [{port: 80, targetPort: http}]
`;
const isIpv6 = (address: string): boolean => address.includes(":");
const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");

describe("a dual-stack cluster, on the lab", function () {
  this.timeout(15 * minutes);
  const stack = new Stack("dual");
  const dual = { network: { ipv6 } };
  const first = (): string => stack.serverOf("control-plane-0");
  const ask = (line: string): Promise<string> => kubectlOn(first(), line);
  /** Returns the web pods of the samples, with their IPv6 address as the address. */
  const sixPods = async (): Promise<Pod[]> => {
    const pods = await webPods(first());
    return Promise.all(
      pods.map(async (pod) => {
        const path = "{.status.podIPs[*].ip}";
        const all = words(await ask(`${samples} get pod ${pod.name} -o jsonpath='${path}'`));
        assert.equal(all.length, 2, `${pod.name}: ${all.join()}`);
        return { ...pod, address: all.find(isIpv6) ?? "" };
      }),
    );
  };
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  it("registers nodes with the IPv4 and IPv6 addresses of their ports, IPv4 first", async () => {
    await stack.up(dual);
    await stack.prove(1);
    for (const { name, address, ...more } of nonEmpty(stack.outputs.nodes)) {
      const path = '{.status.addresses[?(@.type=="InternalIP")].address}';
      const known = words(await ask(`get node ${name} -o jsonpath='${path}'`));
      assert.deepEqual(known, [address, more["ipv6Address"]], name);
      assert.match(String(more["ipv6Address"]), /^fd00:10::/, name);
    }
  });

  it("has machines that forward IPv6 and keep the advertised default route", async () => {
    for (const { name, serverId } of nonEmpty(stack.outputs.nodes)) {
      const forwards = await inServer(serverId, "sysctl -n net.ipv6.conf.all.forwarding");
      assert.equal(forwards.trim(), "1", name);
      assert.match(await inServer(serverId, "ip -6 route show default"), /^default /, name);
      const ping = "{ read -r _ _ router _ device _; ping -6 -c 1 -W 5 -I $device $router; }";
      await inServer(serverId, `ip -6 route show default | ${ping}`);
    }
  });

  it("connects pods across nodes over IPv6 and IPv4", async () => {
    const pods = await sixPods();
    const pairs = pods.flatMap((from) =>
      pods.filter(({ node }) => node !== from.node).map((to) => [from, to] as const),
    );
    assert.ok(pairs.length > 0, "the pods are on one node");
    for (const [from, to] of pairs) await connect(first(), from, `[${to.address}]:8080`);
    assert.ok((await connectPods(first())) > 0);
  });

  it("has a Service that answers pods and machines over both families", async () => {
    await ask(applied(service));
    const all = words(await ask(`${samples} get service both -o jsonpath='{.spec.clusterIPs[*]}'`));
    assert.deepEqual(all.map(isIpv6), [false, true]);
    const targets = all.map((address) => (isIpv6(address) ? `[${address}]` : address));
    for (const target of targets) {
      for (const from of await webPods(first()))
        await until(() =>
          connect(first(), from, `${target}:80`).then(
            () => true,
            () => false,
          ),
        );
      for (const { serverId } of stack.outputs.nodes)
        await inServer(serverId, `curl -gsSf --max-time 10 -o /dev/null http://${target}/`);
    }
  });

  it("blocks pods from the machines' own ports over IPv6 too", async () => {
    const [from] = await webPods(first());
    assert.ok(from);
    for (const { ipv6Address } of stack.outputs.nodes)
      for (const port of ["22", "10250"])
        await assert.rejects(connect(first(), from, `[${String(ipv6Address)}]:${port}`), port);
  });

  it("has IPv4 load balancers that answer", async () => {
    assert.equal(await answers(stack.outputs.samples?.external ?? "", 80), true);
  });

  it("has no changes on a second `up`", async () => {
    await stack.again(dual);
  });

  it("refuses the removal of IPv6 before any change", async () => {
    await assert.rejects(stack.up({}), /network\.ipv6\.nodes: fd00:10::\/64 cannot become nothing/);
    await stack.prove(1);
  });

  it("is destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});

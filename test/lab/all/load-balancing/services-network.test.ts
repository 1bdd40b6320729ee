import assert from "node:assert/strict";
import { silentProgress } from "../../../../base/progress.js";
import { sendHttpRequest } from "../../../../openstack/http/http-exchange.js";
import { listObjects } from "../../../../openstack/inventory/inventory.js";
import { labAdd } from "../../../../packages/lab/lab.js";
import { until } from "../../support/cloud/foreign.js";
import { applied, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { NeutronObjects } from "../../support/cloud/neutron.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;
const samples = "-n stackadm-samples";

describe("Services that get a separate network on a running cluster, on the lab", function () {
  this.timeout(15 * minutes);
  const stack = new Stack("apart");
  const single = { topology: "single", workers: {} };
  const apart = { ...single, loadBalancer: { network: { externalNetwork: "services" } } };
  const withIngress = { ...apart, ingress: { kind: "service", replicas: 1 } };
  const ask = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());
  const addressOf = async (name: string): Promise<string> => {
    const path = "{.status.loadBalancer.ingress[0].ip}";
    const address = (): Promise<string> =>
      ask(`${samples} get service ${name} -o jsonpath='${path}'`);
    await until(async () => (await address()) !== "");
    return address();
  };
  const expose = async (name: string): Promise<string> => {
    await ask(
      `${samples} expose deployment web --name ${name} --type LoadBalancer --port 80 --target-port http`,
    );
    return addressOf(name);
  };
  before(async () => {
    await labAdd("traefik", { progress: silentProgress });
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  it("have external addresses from the first pool before the change", async () => {
    await stack.up(single);
    assert.match(stack.outputs.samples?.external ?? "", /^172\.29\.1\./);
  });

  it("keep their addresses, and new Services get addresses from the second pool", async () => {
    const { samples: before } = stack.outputs;
    await stack.up(apart);
    assert.deepEqual(stack.outputs.samples, before);
    await stack.prove(1);
    const address = await expose("more");
    assert.match(address, /^172\.29\.2\./);
    await until(async () => {
      const answer = await fetch(`http://${address}/`).catch(() => undefined);
      return answer?.ok === true;
    });
  });

  it("use the class that they name: here the first pool and the machines' network", async () => {
    const { cloud } = stack.cluster;
    const neutron = new NeutronObjects(cloud);
    const nodes = (await listObjects(cloud, "subnet")).find(({ name }) => name === "apart");
    const machines = { networkId: nodes?.network ?? "", subnetId: nodes?.id ?? "" };
    const outside = { floatingNetworkId: await neutron.external(), ...machines };
    const network = { externalNetwork: "services" };
    const classes = { outside };
    await stack.up({ ...single, loadBalancer: { network, classes } });
    const annotations = "annotations: {loadbalancer.openstack.org/class: outside}";
    const spec =
      "type: LoadBalancer, selector: {app.kubernetes.io/name: web}, ports: [{port: 80, targetPort: http}]";
    await ask(
      applied(
        `apiVersion: v1\nkind: Service\nmetadata: {name: classed, namespace: stackadm-samples, ${annotations}}\nspec: {${spec}}\n`,
      ),
    );
    const address = await addressOf("classed");
    assert.match(address, /^172\.29\.1\./);
    await until(
      async () => (await fetch(`http://${address}/`).catch(() => undefined))?.ok === true,
    );
    await ask(`${samples} delete service classed`);
  });

  it("include an ingress controller that answers for one host name and returns 404 for others", async () => {
    const { samples: before } = stack.outputs;
    await stack.up(withIngress);
    const { ingress, samples: now } = stack.outputs;
    assert.deepEqual({ ...now, host: undefined }, { ...before, host: undefined });
    const address = ingress?.address ?? "";
    assert.match(address, /^172\.29\.2\./);
    const status = async (host: string): Promise<number | undefined> =>
      (await sendHttpRequest(`http://${address}/`, { headers: { host }, timeout: 10_000 })).status;
    assert.deepEqual([await status(now?.host ?? ""), await status("unknown.example")], [200, 404]);
    await stack.again(withIngress);
  });

  it("keep their network, and refuse its removal or replacement", async () => {
    await assert.rejects(stack.up(single), /10\.1\.0\.0\/24 cannot become nothing/);
    const network = { range: "10.2.0.0/24", externalNetwork: "services" };
    await assert.rejects(stack.up({ ...single, loadBalancer: { network } }), /10\.2\.0\.0\/24/);
  });

  // The Service still exists. `destroy` must delete its load balancer before the network of the
  // load balancer's address.
  it("leave no objects after the cluster is destroyed", async () => {
    await stack.destroyAndLookAround();
  });
});

import assert from "node:assert/strict";
import { silent } from "../../../base/progress.js";
import { exchange } from "../../../cloud/http.js";
import { labAdd } from "../../../lab/lab.js";
import { until } from "../support/foreign.js";
import { kubectlOn } from "../support/kubectl.js";
import { Stack } from "../support/stack.js";

const minutes = 60_000;
const samples = "-n stackadm-samples";

describe("services that get a network of their own while the cluster lives, on the lab", function () {
  this.timeout(15 * minutes);
  const stack = new Stack("apart");
  const single = { topology: "single", workers: {} };
  const apart = { ...single, loadBalancer: { network: { externalNetwork: "services" } } };
  const withIngress = { ...apart, ingress: { kind: "service", replicas: 1 } };
  const ask = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());
  const expose = async (name: string): Promise<string> => {
    const path = "{.status.loadBalancer.ingress[0].ip}";
    const address = (): Promise<string> =>
      ask(`${samples} get service ${name} -o jsonpath='${path}'`);
    await ask(
      `${samples} expose deployment web --name ${name} --type LoadBalancer --port 80 --target-port http`,
    );
    await until(async () => (await address()) !== "");
    return address();
  };
  before(async () => {
    await labAdd("traefik", { progress: silent });
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  it("have load balancers beside the API before", async () => {
    await stack.up(single);
    assert.match(stack.outputs.samples?.external ?? "", /^172\.29\.1\./);
  });

  it("keep the addresses that they have, and get new ones from the other pool", async () => {
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

  it("are one for an ingress controller too, which answers for a name and for no other", async () => {
    const { samples: before } = stack.outputs;
    await stack.up(withIngress);
    const { ingress, samples: now } = stack.outputs;
    assert.deepEqual({ ...now, host: undefined }, { ...before, host: undefined });
    const address = ingress?.address ?? "";
    assert.match(address, /^172\.29\.2\./);
    const status = async (host: string): Promise<number | undefined> =>
      (await exchange(`http://${address}/`, { headers: { host }, timeout: 10_000 })).status;
    assert.deepEqual([await status(now?.host ?? ""), await status("nobody.example")], [200, 404]);
    await stack.again(withIngress);
  });

  it("neither lose it nor get another one", async () => {
    await assert.rejects(stack.up(single), /10\.1\.0\.0\/24 cannot become nothing/);
    const network = { range: "10.2.0.0/24", externalNetwork: "services" };
    await assert.rejects(stack.up({ ...single, loadBalancer: { network } }), /10\.2\.0\.0\/24/);
  });

  // The Service is still there: its load balancer goes before the network that its address is in.
  it("goes away and leaves nothing", async () => {
    await stack.destroyAndLookAround();
  });
});

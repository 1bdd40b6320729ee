import assert from "node:assert/strict";
import { sendHttpRequest } from "../../../../openstack/http/http-exchange.js";
import { createServerTls } from "../../../../packages/lab/certificates.js";
import { readLabSettings } from "../../../../packages/lab/settings.js";
import { Barbican } from "../../support/cloud/barbican.js";
import { until } from "../../support/cloud/foreign.js";
import { applied, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { listLabNetworks } from "../../support/stack/lab-cluster.js";
import { Stack } from "../../support/stack/stack.js";
import { askUdp } from "../../support/network/udp.js";

const minutes = 60_000;
const port = 7007;
const roles = ["creator", "load-balancer_member", "member"];
const annotation = "loadbalancer.openstack.org/default-tls-container-ref";

const pods = (image: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: echo, namespace: default}
spec:
  selector: {matchLabels: {app: echo}}
  template:
    metadata: {labels: {app: echo}}
    spec:
      containers: [{name: echo, image: "${image}", args: [netexec, --http-port=8080, --udp-port=8081]}]
`;

const service = (name: string, ports: string, annotations = "{}"): string => `
apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: default, annotations: ${annotations}}
spec: {type: LoadBalancer, selector: {app: echo}, ports: [${ports}]}
`;

const bothPorts = `
  {name: udp, protocol: UDP, port: ${String(port)}, targetPort: 8081},
  {name: tcp, protocol: TCP, port: ${String(port)}, targetPort: 8080}`;

interface Part {
  readonly type?: string;
  readonly protocol?: string;
  readonly operating_status?: string;
  readonly allowed_cidrs?: readonly string[];
}

/**
 * Returns the TLS error code of a request by a client that trusts this CA. Returns "" if there is
 * no error.
 */
const wrongWith = (url: string, ca: string): Promise<string> =>
  sendHttpRequest(url, { ca, timeout: 10_000, alone: true }).then(
    () => "",
    (error: unknown) => (error as NodeJS.ErrnoException).code ?? String(error),
  );

describe("load balancers with UDP and with TLS termination, on the lab", function () {
  this.timeout(15 * minutes);
  const stack = new Stack("balanced");
  const changed = {
    workers: { general: { flavor: "k8s-worker", count: 1 } },
    zones: ["zone-a"],
    credential: { roles },
  };
  let barbican: Barbican;
  let secrets = 0;
  const ask = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());
  const addressOf = async (name: string): Promise<string> => {
    const path = "{.status.loadBalancer.ingress[0].ip}";
    const address = (): Promise<string> => ask(`get service ${name} -o jsonpath='${path}'`);
    await until(async () => (await address()) !== "");
    return address();
  };
  const parts = async (kind: "listeners" | "pools" | "healthmonitors"): Promise<Part[]> => {
    const answer = await stack.cluster.cloud.request("load-balancer", "GET", `/lbaas/${kind}`);
    return (answer as Record<string, Part[]>)[kind] ?? [];
  };
  const has = async (type: string): Promise<boolean> =>
    (await parts("healthmonitors")).some((one) => one.type === type);
  const health = async (wanted: string): Promise<void> =>
    until(async () => {
      const found = (await parts("pools")).find(({ protocol }) => protocol === "UDP");
      return found?.operating_status === wanted;
    });
  let address = "";
  const says = (wanted: string): Promise<void> =>
    until(async () => (await askUdp(address, port, "echo hello")) === wanted);
  before(async () => {
    await stack.open();
    barbican = new Barbican(stack.cluster.cloud);
    secrets = await barbican.count();
  });
  after(async () => {
    await barbican.remove();
    await stack.cluster.close();
  });

  it("use a credential with exactly the configured roles", async () => {
    await stack.up(changed);
    await stack.prove(1);
    const { cloud } = stack.cluster;
    const path = `/users/${cloud.userId}/application_credentials`;
    const answer = (await cloud.request("identity", "GET", path)) as {
      application_credentials: { name: string; roles: { name: string }[] }[];
    };
    const own = answer.application_credentials.find(({ name }) => name.startsWith(stack.name));
    assert.deepEqual(own?.roles.map(({ name }) => name).sort(), roles);
  });

  it("allow the cluster's client ranges, nodes and pods", async () => {
    const allowed = (await parts("listeners")).map((one) => one.allowed_cidrs?.toSorted());
    const clients = listLabNetworks(readLabSettings());
    const ranges = ["10.0.0.0/24", "10.244.0.0/16", ...clients].toSorted();
    assert.deepEqual(allowed, [ranges, ranges]);
  });

  it("answer UDP and TCP on the same port from outside", async () => {
    const image = "{.spec.template.spec.containers[0].image}";
    const name = await ask(`-n stackadm-samples get deployment web -o jsonpath='${image}'`);
    await ask(applied(`${pods(name)}---${service("echo", bothPorts)}`));
    address = await addressOf("echo");
    assert.match(address, /^172\.29\.1\./);
    await says("hello");
    const { status, body } = await sendHttpRequest(`http://${address}:${String(port)}/hostname`);
    assert.deepEqual([status, body.slice(0, 5)], [200, "echo-"]);
    assert.ok(await has("UDP-CONNECT"));
  });

  it("refuse traffic while the Service has no pods", async () => {
    await ask("scale deployment echo --replicas 0");
    await health("ERROR");
    await says("refused");
    await ask("scale deployment echo --replicas 1");
    await health("ONLINE");
    await says("hello");
  });

  it("use HTTP health checks with externalTrafficPolicy Local", async () => {
    await ask(`patch service echo -p '{"spec":{"externalTrafficPolicy":"Local"}}'`);
    await until(async () => (await has("HTTP")) && !(await has("UDP-CONNECT")));
    await says("hello");
  });

  it("accept only clients in the Service's source ranges", async () => {
    const only = (range: string): Promise<string> =>
      ask(`patch service echo -p '{"spec":{"loadBalancerSourceRanges":["${range}"]}}'`);
    await only("198.51.100.0/24");
    await says("refused");
    await only("172.29.0.0/16");
    await says("hello");
  });

  it("terminate TLS with a certificate from Barbican, and with its replacement", async () => {
    const first = await createServerTls("192.0.2.1");
    const ref = await barbican.container("first", first);
    const ports = "{port: 443, targetPort: 8080}";
    await ask(applied(service("secure", ports, `{${annotation}: "${ref}"}`)));
    const secure = await addressOf("secure");
    const url = `https://${secure}/hostname`;
    // The certificate contains another address. The client trusts the CA, so it reports only the
    // wrong address.
    const other = "ERR_TLS_CERT_ALTNAME_INVALID";
    await until(async () => (await wrongWith(url, first.authority)) === other);
    assert.ok((await parts("listeners")).some(({ protocol }) => protocol === "TERMINATED_HTTPS"));
    const second = await createServerTls(secure);
    const bundle = await barbican.bundle("second", second);
    await ask(`annotate service secure --overwrite ${annotation}=${bundle}`);
    await until(async () => (await wrongWith(url, second.authority)) === "");
    const { status, body } = await sendHttpRequest(url, { ca: second.authority });
    assert.deepEqual([status, body.slice(0, 5)], [200, "echo-"]);
  });

  it("have no changes on a second `up`", async () => {
    await stack.again(changed);
  });

  it("are deleted with the cluster, and leave Barbican's other secrets", async () => {
    await stack.destroyAndLookAround();
    await barbican.remove();
    assert.equal(await barbican.count(), secrets);
  });
});

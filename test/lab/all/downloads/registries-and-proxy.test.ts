import assert from "node:assert/strict";
import { managementPorts } from "../../../../packages/lab/cloud/configuration/common.js";
import {
  getLabPaths,
  readLabSettings,
  type LabSettings,
} from "../../../../packages/lab/settings.js";
import { readState, getRunningSettings } from "../../../../packages/lab/state.js";
import {
  encrypted,
  signedIn,
  startProxy,
  startRegistry,
  stateAsItIs,
  type TestServer,
} from "../../support/downloads/downloads.js";
import { kubectlOn } from "../../support/kubernetes/kubectl.js";
import { changes } from "../../support/stack/lab-cluster.js";
import { inServer } from "../../support/machines/machines.js";
import {
  bait,
  startPackages,
  type PackageRepositories,
} from "../../support/downloads/package-repositories.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;
const password = { proxy: "canary-of-the-proxy", registry: "canary&of$the'registry" };
const machines = ["control-plane-0", "general-0"];

describe("a cluster with its own proxy, repositories, registries and images, on the lab", function () {
  this.timeout(20 * minutes);
  const stack = new Stack("downloads");
  let management: LabSettings["management"];
  let proxy: TestServer;
  let repositories: PackageRepositories;
  let registry: Awaited<ReturnType<typeof startRegistry>>;
  before(async () => {
    await stack.open();
    ({ management } = getRunningSettings(await readState(getLabPaths(readLabSettings().name))));
    const { host, cloud } = management;
    proxy = await startProxy(host);
    repositories = await startPackages(host, `${cloud}:${String(managementPorts.packages)}`);
    const login = { user: "robot", password: password.registry };
    registry = await startRegistry(host, `${cloud}:${String(managementPorts.registry)}`, login);
  });
  after(async () => {
    await Promise.all([proxy.close(), repositories.close(), registry.close()]);
    await stack.cluster.close();
  });

  const described = (http: unknown, kubernetes: object = {}): Record<string, unknown> => ({
    controlPlane: { flavor: "k8s-control-plane", count: 1 },
    workers: { general: { flavor: "k8s-worker", count: 1 } },
    samples: false,
    ...(http !== undefined && { network: { proxy: { http } } }),
    kubernetes: {
      packages: repositories.packages,
      // The proxy runs on the host. The host cannot resolve the names that the lab's DNS answers,
      // so the registry is an address.
      registry: { prefix: site(managementPorts.registry), plainHttp: true },
      ...kubernetes,
    },
  });
  const by = (credentials = ""): string =>
    `http://${credentials}${management.host}:${String(proxy.port)}`;
  const site = (port: number): string => `${management.cloud}:${String(port)}`;
  const on = (machine: string, line: string): Promise<string> =>
    inServer(stack.serverOf(machine), line);
  const ask = (line: string): Promise<string> => kubectlOn(stack.serverOf("control-plane-0"), line);
  const dnsImage = (): Promise<string> =>
    ask(
      "-n kube-system get deployment coredns -o jsonpath={.spec.template.spec.containers[0].image}",
    );
  /**
   * Returns the sandbox IDs of the pods whose containers run on a machine. Builds of crictl print
   * different spaces in the JSON, so the pattern allows any number of spaces.
   */
  const containers = async (machine: string): Promise<string[]> =>
    (await on(machine, 'crictl ps -o json | grep -o \'"podSandboxId": *"[0-9a-f]*"\''))
      .trim()
      .split("\n")
      .sort();
  const coreDns = (): string => `${site(managementPorts.registry)}/coredns/coredns:v1.14.2`;

  it("downloads packages and images through the proxy, and sets no proxy variables in pods", async () => {
    await stack.up(described(by()));
    const targets = new Set(proxy.asked.map(({ target }) => target));
    const ours = `${management.host}:${String(repositories.port)}`;
    for (const target of [ours, site(managementPorts.registry)])
      assert.ok(targets.has(target), target);
    assert.doesNotMatch(
      await on("control-plane-0", "cat /etc/kubernetes/manifests/*.yaml"),
      /_PROXY/i,
    );
    assert.doesNotMatch(await ask("-n kube-system get daemonset kube-proxy -o yaml"), /_PROXY/i);
    await stack.prove(1);
  });

  it("installs only containerd from the extra repository, and accepts only the repository's key for it", async () => {
    const { asked, packages, version } = repositories;
    const taken = asked.filter(({ target }) => /^\/debian\/.*\.deb$/.test(target));
    assert.ok(taken.length >= machines.length, JSON.stringify(taken));
    for (const { target } of taken) assert.match(target, /\/containerd\.io_[^/]*$/);
    const keys =
      "gpg --homedir /run/stackadm --batch --no-autostart --show-keys --with-colons /etc/apt/keyrings/stackadm-containerd.asc";
    for (const machine of machines) {
      const installed = await on(machine, "dpkg-query -W -f '${Version}' containerd.io");
      assert.equal(installed.trim(), version);
      assert.match(await on(machine, "apt-mark showhold"), /^containerd\.io$/m);
      const policy = await on(machine, `apt-cache policy ${bait.package}`);
      assert.ok(!policy.includes(bait.version), policy);
      const listed = await on(machine, keys);
      assert.deepEqual(
        [...listed.matchAll(/^pub:.*\nfpr:+(\w+):/gm)].map(([, found]) => found),
        [packages.containerd.keyFingerprint],
      );
    }
  });

  it("has no changes on a second `up`", async () => {
    await stack.up(described(by()));
    assert.deepEqual(changes(stack.cluster.seen.events), {});
  });

  it("refuses unencrypted passwords before any change", async () => {
    await assert.rejects(
      stack.up(described(by(`me:${password.proxy}@`))),
      /network\.proxy\.http: is not encrypted/,
    );
  });

  it("accepts passwords, a mirror, an authority and an image while it runs, and restarts no other pods", async () => {
    const before = await Promise.all(machines.map(containers));
    const front = `${management.host}:${String(registry.port)}`;
    const registries = {
      [front]: {
        ca: registry.ca,
        user: "robot",
        password: await encrypted(stack.cluster, password.registry),
      },
      "docker.io": { mirrors: [`https://${front}`] },
    };
    const http = await encrypted(stack.cluster, by(`me:${password.proxy}@`));
    await stack.up(described(http, { registries, images: { coreDns: coreDns() } }));
    assert.equal((await dnsImage()).trim(), coreDns());
    for (const [position, machine] of machines.entries()) {
      const now = await containers(machine);
      const lost = (before[position] ?? []).filter((one) => !now.includes(one));
      assert.ok(lost.length <= 2, `${machine}: ${lost.join(" ")}`);
      await on(machine, "crictl pull docker.io/e2e-test-images/agnhost:2.63.0");
      await on(machine, `crictl pull ${site(managementPorts.registry)}/pause:3.10.2`);
      for (const file of ["containerd/config.toml", "apt/apt.conf.d/95stackadm-proxy"])
        assert.equal((await on(machine, `stat -c %a /etc/${file}`)).trim(), "600", file);
    }
    assert.ok(registry.asked.some(({ target }) => target.includes("/e2e-test-images/agnhost/")));
    assert.ok(registry.asked.some(({ signedIn: who }) => who.startsWith("Basic ")));
    assert.ok(signedIn(proxy, site(managementPorts.registry), "me", password.proxy));
    await stack.prove(1);
  });

  it("hides the passwords in events, output and state", async () => {
    const { cluster } = stack;
    const texts = [JSON.stringify(cluster.seen), await stateAsItIs(cluster)];
    for (const text of texts)
      for (const canary of Object.values(password)) assert.ok(!text.includes(canary));
  });

  it("removes all these settings from its machines when the user unsets them", async () => {
    await stack.up(described(undefined));
    for (const machine of machines) {
      const left = await on(
        machine,
        "ls /etc/apt/apt.conf.d /etc/systemd/system/containerd.service.d /etc/containerd/certs.d 2>/dev/null; tr '\\0' '\\n' </proc/$(pgrep -xo containerd)/environ; cat /etc/containerd/config.toml",
      );
      assert.doesNotMatch(left, /stackadm-proxy|HTTP_PROXY|docker\.io|canary/, machine);
    }
    assert.notEqual((await dnsImage()).trim(), coreDns());
    await stack.prove(1);
  });

  it("is destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { CloudClient } from "../../../../openstack/client/cloud-client.js";
import { sendHttpRequest } from "../../../../openstack/http/http-exchange.js";
import {
  compareInventories,
  listObjects,
  takeInventory,
} from "../../../../openstack/inventory/inventory.js";
import { createImageTable } from "../../../../base/versions/container-images.js";
import { defaultKubernetesVersion } from "../../../../base/versions/pinned-versions.js";
import {
  renderCniConfiguration,
  buildKubeRouterRbac,
  buildKubeRouterConfigMap,
  buildKubeRouterDaemonSet,
} from "../../../../components/pod-network/kube-router/manifests.js";
import { managementPorts } from "../../../../packages/lab/cloud/configuration/common.js";
import { readLabSettings } from "../../../../packages/lab/settings.js";
import { administrator } from "../../support/cloud/administrator.js";
import { encrypted, startRegistry } from "../../support/downloads/downloads.js";
import { until } from "../../support/cloud/foreign.js";
import { whoIs } from "../../support/cloud/keystone.js";
import { applied, claimAtOnce, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { inServer } from "../../support/machines/machines.js";
import { startIssuer, type OidcIssuer } from "../../support/kubernetes/oidc-issuer.js";
import { ownImage, type OwnImage } from "../../support/cloud/own-image.js";
import { manifestOf, runWebPods } from "../../support/kubernetes/own-pods.js";
import { connectPods } from "../../support/kubernetes/pods.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;
const { host, cloud } = readLabSettings().management;
const registryAt = `${cloud}:${String(managementPorts.registry)}`;
const login = { user: "robot", password: "canary-of-the-registry" };
const supplied = z.object({
  application_credential: z.object({ id: z.string(), secret: z.string() }),
});
const server = z.object({
  server: z.looseObject({
    image: z.object({ id: z.string() }),
    flavor: z.object({ original_name: z.string() }),
  }),
});
const tags = z.object({ tags: z.array(z.string()) });

describe("a cluster with its own pod network, credential, images and users, without a cloud controller, on the lab", function () {
  this.timeout(12 * minutes);
  const stack = new Stack("own");
  const undo: (() => Promise<void>)[] = [];
  let registry: Awaited<ReturnType<typeof startRegistry>>;
  let issuer: OidcIssuer;
  let image: OwnImage;
  let credential: { readonly id: string; readonly secret: unknown };
  let kubernetes: Record<string, unknown>;
  const images: Record<string, string> = {};
  const changed = (): Record<string, unknown> => ({
    controlPlane: { flavor: "k8s-control-plane", count: 1 },
    workers: {
      general: {
        flavor: "k8s-worker",
        count: 2,
        nodes: { 1: { flavor: "k8s-control-plane", image: image.id } },
      },
    },
    podNetwork: "none",
    cloudController: { enabled: false },
    samples: false,
    credential,
    kubernetes,
  });
  const on = (machine: string, line: string): Promise<string> =>
    inServer(stack.serverOf(machine), line);
  const ask = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());
  const newest = async (name: string): Promise<string> => {
    const { body } = await sendHttpRequest(`http://${registryAt}/v2/${name}/tags/list`);
    const known = tags.parse(JSON.parse(body)).tags;
    return (
      known.sort((one, other) => one.localeCompare(other, "en", { numeric: true })).at(-1) ?? ""
    );
  };

  /**
   * Creates an application credential in the project of the client. The credential is deleted after
   * the test.
   */
  const makeCredential = async (client: CloudClient, role: string) => {
    const path = `/users/${client.userId}/application_credentials`;
    const wanted = { name: `supplied-${randomUUID()}`, roles: [{ name: role }] };
    const made = supplied.parse(
      await client.request("identity", "POST", path, { application_credential: wanted }),
    ).application_credential;
    undo.push(async () => {
      await client.request("identity", "DELETE", `${path}/${made.id}`);
    });
    return made;
  };
  /**
   * Requires that `up` with another application credential fails with this error and creates no
   * object.
   */
  const refused = async (id: string, secret: string, sentence: RegExp): Promise<void> => {
    const other = { id, secret: await encrypted(stack.cluster, secret) };
    await assert.rejects(stack.up({ ...changed(), credential: other }), sentence);
    const now = await takeInventory(stack.cluster.cloud);
    assert.deepEqual(compareInventories(stack.initially, now), { added: [], removed: [] });
  };

  before(async () => {
    await stack.open();
    undo.push(() => stack.cluster.close());
    registry = await startRegistry(host, registryAt, login);
    undo.push(() => registry.close());
    issuer = await startIssuer(host);
    undo.push(() => issuer.close());
    image = await ownImage("own-debian");
    undo.push(() => image.remove());
    const { cloud: client, service } = stack.cluster;
    const made = await makeCredential(client, "member");
    stack.initially = await takeInventory(client);
    // The preview creates the stack and the salt of its secrets, which `encrypted` needs.
    await service.preview(stack.name, { settings: stack.cluster.settings() });
    const front = `${host}:${String(registry.port)}`;
    const password = await encrypted(stack.cluster, login.password);
    credential = { id: made.id, secret: await encrypted(stack.cluster, made.secret) };
    for (const name of ["etcd", "pause"]) images[name] = `${front}/${name}:${await newest(name)}`;
    images["cinderCsi"] = createImageTable(defaultKubernetesVersion, { prefix: front }).cinderCsi;
    kubernetes = {
      images,
      registries: { [front]: { ca: registry.ca, user: login.user, password } },
      oidc: {
        issuerUrl: issuer.url,
        clientId: "lab",
        ca: issuer.ca,
        usernameClaim: "name",
        usernamePrefix: "own:",
        groupsClaim: "groups",
        groupsPrefix: "own:",
      },
      certificates: { validity: "2000h", authorityValidity: "30000h" },
      controllerManager: { extraArgs: { "terminated-pod-gc-threshold": 100 } },
      scheduler: { extraArgs: { v: 3 } },
      kubeProxy: { nodePortAddresses: ["primary"] },
    };
  });
  after(async () => {
    for (const step of undo.reverse()) await step();
  });

  it("is refused with a wrong ID or secret of the credential, before any object is created", async () => {
    const sentence = /cluster\.credential\.id: the application credential \S+ cannot sign in: /;
    await refused(credential.id, "canary-of-another", sentence);
    await refused(randomUUID().replaceAll("-", ""), "canary-of-another", sentence);
  });

  it("is refused with a credential of another project, before any object is created", async () => {
    const { id, secret } = await makeCredential(await administrator(), "admin");
    await refused(
      id,
      secret,
      /cluster\.credential\.id: .* belongs to project \S+, but the cluster is/,
    );
  });

  it("starts with provider IDs on all nodes, which stay NotReady without a pod network", async () => {
    await stack.up(changed());
    await stack.prove(1);
    const path = `{range .items[*]}{.spec.providerID} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}`;
    const nodes = (await ask(`get nodes -o jsonpath='${path}'`)).split("\n").sort();
    assert.deepEqual(
      nodes,
      stack.outputs.nodes.map(({ serverId }) => `openstack:///${serverId} False`).sort(),
    );
    assert.doesNotMatch(await ask("get pods -A -o name"), /cloud-controller|kube-router/);
    assert.doesNotMatch(
      await ask("get nodes -o jsonpath='{.items[*].spec.taints}'"),
      /uninitialized/,
    );
  });

  it("runs the user's pod network, and pods reach other machines and Services by name", async () => {
    const { kubeRouter } = createImageTable(defaultKubernetesVersion);
    const objects = [
      ...(Object.values(buildKubeRouterRbac()) as object[]),
      buildKubeRouterConfigMap(renderCniConfiguration(1300)),
      buildKubeRouterDaemonSet({
        image: kubeRouter,
        serviceCidrs: ["10.96.0.0/12"],
        exchangesRoutes: true,
        configChecksum: "1",
      }),
    ];
    await ask(applied(manifestOf(objects)));
    await ask("wait --for=condition=Ready nodes --all --timeout=120s");
    await runWebPods(stack.serverOf("control-plane-0"));
    assert.ok((await connectPods(stack.serverOf("control-plane-0"))) >= 2);
    await stack.prove(1);
  });

  it("creates volumes with the user's credential, and creates no credential", async () => {
    const conf = "-n kube-system get secret cloud-config -o jsonpath='{.data.cloud\\.conf}'";
    assert.ok(
      Buffer.from(await ask(conf), "base64")
        .toString()
        .includes(credential.id),
    );
    const credentials = (): Promise<unknown[]> =>
      listObjects(stack.cluster.cloud, "application credential");
    const before = stack.initially.filter(({ kind }) => kind === "application credential");
    assert.deepEqual(await credentials(), before);
    await ask(applied(claimAtOnce));
    await until(async () => (await ask("get pvc data")).includes("Bound"));
    const volumes = await listObjects(stack.cluster.cloud, "volume");
    assert.equal(
      volumes.length - stack.initially.filter(({ kind }) => kind === "volume").length,
      1,
    );
  });

  it("pulls images from a registry that requires a password, from the first machine on", async () => {
    for (const [name, reference] of Object.entries(images)) {
      const [, path = "", tag = ""] = /^[^/]+\/(.+):([^:]+)$/.exec(reference) ?? [];
      const target = `/v2/${path}/manifests/${tag}`;
      const asked = registry.asked.filter((one) => one.target.startsWith(target));
      assert.ok(
        asked.some((one) => one.signedIn.startsWith("Basic ")),
        `${name} ${target}`,
      );
    }
    assert.ok(
      (await on("control-plane-0", "cat /etc/kubernetes/manifests/etcd.yaml")).includes(
        `image: ${images["etcd"] ?? ""}`,
      ),
    );
    const pods = await on("general-0", "ctr --namespace k8s.io containers list");
    assert.ok(pods.includes(images["pause"] ?? ""), pods);
    const csi =
      "-n kube-system get daemonsets,deployments -o jsonpath='{.items[*].spec.template.spec.containers[*].image}'";
    assert.ok((await ask(csi)).includes(images["cinderCsi"] ?? ""));
  });

  it("authenticates users of an OpenID Connect provider, and refuses other tokens", async () => {
    const user = { aud: "lab", sub: "1", name: "ada", groups: ["readers"] };
    const who = (claims: object) => whoIs(stack.outputs.kubeconfig, issuer.token({ ...claims }));
    // The API server loads the signing keys of the OIDC provider only after a delay.
    await until(async () => (await who(user)) !== undefined);
    const found = await who(user);
    assert.equal(found?.username, "own:ada");
    assert.ok(found.groups.includes("own:readers"), found.groups.join());
    assert.equal(await who({ ...user, aud: "another" }), undefined);
    const forged = issuer.token(user).replace(/[^.]+$/, "AAAA");
    assert.equal(await whoIs(stack.outputs.kubeconfig, forged), undefined);
  });

  it("uses the configured certificate lifetimes, flags and fields", async () => {
    const lifetime = async (name: string): Promise<number> => {
      const line = `openssl x509 -noout -startdate -enddate -in /etc/kubernetes/pki/${name}.crt`;
      const [begins = 0, ends = 0] = (await on("control-plane-0", line))
        .trim()
        .split("\n")
        .map((one) => Date.parse(one.replace(/^\w+=/, "")));
      return Math.round((ends - begins) / 3_600_000);
    };
    assert.ok(Math.abs((await lifetime("ca")) - 30_000) <= 1);
    assert.ok(Math.abs((await lifetime("apiserver")) - 2_000) <= 1);
    const flagsOf = (program: string): Promise<string> =>
      on("control-plane-0", `tr '\\0' ' ' </proc/$(pgrep -of ^${program})/cmdline`);
    assert.match(await flagsOf("kube-controller-manager"), / --terminated-pod-gc-threshold=100 /);
    assert.match(await flagsOf("kube-scheduler"), / --v=3 /);
    const proxy = await on("general-0", "curl -s http://127.0.0.1:10249/configz");
    assert.match(proxy, /"nodePortAddresses":\["primary"\]/i);
  });

  it("has a machine with another flavor and image in the same pool", async () => {
    const shown = async (machine: string) =>
      server.parse(
        await stack.cluster.cloud.request("compute", "GET", `/servers/${stack.serverOf(machine)}`),
      ).server;
    const [first, other] = [await shown("general-0"), await shown("general-1")];
    assert.deepEqual([other.image.id, first.image.id === image.id], [image.id, false]);
    assert.deepEqual(
      [other.flavor.original_name, first.flavor.original_name],
      ["k8s-control-plane", "k8s-worker"],
    );
  });

  it("has no changes on a second `up`", async () => {
    await stack.again(changed());
  });

  it("is destroyed without leftovers, and keeps the user's own objects", async () => {
    await stack.destroyAndLookAround();
  });
});

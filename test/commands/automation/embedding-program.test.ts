import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { inspect } from "node:util";
import type { Listening } from "../../support/engine/listening-service.js";
import { VerificationFailed } from "../../../automation/health/cluster-health.js";
import { Embedder, fails } from "../../support/engine/embedder.js";
import { instanceType, stackWith, urnOf, type Engine } from "../../support/engine/fake-engine.js";
import type { FakeCloud } from "../../support/cloud/fake-openstack.js";
import { startFakeCluster, type FakeCluster } from "../../support/cloud/ready-cluster.js";

const identity = "0123456789ab";
/** Titles of steps. */
const asking = "Ask the cloud for objects, quotas and names";
const fitting = "Check whether the cluster fits into the cloud";
const running = "Bring up the cluster";
const verifying = "Verify the cluster and write its kubeconfig";
const sweeping = "Check that nothing is left in the project";

const marks = { "stackadm-cluster": "dev", "stackadm-identity": identity };

describe("a program that embeds the cluster service", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let cloud: FakeCloud;
  let cluster: FakeCluster;
  let servers: { id: string; name: string; status?: string; metadata?: object; created?: string }[];
  let steps: string[];
  let notes: string[];
  beforeEach(async () => {
    embedder = await Embedder.start();
    ({ engine, cloud } = embedder);
    cluster = await startFakeCluster();
    engine.outputs(cluster.outputs);
    [servers, steps, notes] = [[], [], []];
    cloud.on("GET /compute/servers/detail", () => ({ body: { servers } }));
    cloud.on("DELETE /compute/servers/late", () => {
      servers = servers.filter(({ id }) => id !== "late");
      return { status: 204 };
    });
  });
  afterEach(async () => {
    await embedder.stop();
    await cluster.close();
  });
  const listening: Listening = {
    onStep: (title, detail) => steps.push(detail === undefined ? title : `${title}: ${detail}`),
    onNote: (text) => notes.push(text),
  };
  const deleted = (): string[] =>
    cloud.seen.filter(({ method }) => method === "DELETE").map(({ path }) => path);
  const onCluster: Listening["onCluster"] = ({ clusters, identities, place }) => {
    const sofar = deleted().join() || "nothing";
    const where = place?.project.name ?? "nowhere";
    steps.push(`${clusters.join()} ${identities.join()} in ${where}, ${sofar} deleted`);
  };
  const ofIdentity = {
    urn: urnOf("command:local:Command", "dev-identity"),
    type: "command:local:Command",
    id: "i",
    outputs: { stdout: identity },
  };
  const held = (...more: readonly unknown[]): void => {
    engine.state({
      resources: [
        ofIdentity,
        { urn: urnOf(instanceType, "vm"), type: instanceType, id: "gone" },
        ...more,
      ],
    });
  };
  /** Creates the cluster's kubeconfig as an earlier run would have left it. */
  const leftovers = (): string[] => {
    const files = [embedder.kubeconfig()];
    for (const file of files) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "of the cluster");
    }
    return files;
  };

  describe("that runs up", () => {
    const up = (options = {}) => embedder.service().up("dev", { ...listening, ...options });

    it("gets outputs, a kubeconfig file and the verification, after the preflight", async () => {
      engine.state({ resources: [stackWith(cluster.outputs)] });
      const { outputs, kubeconfigPath = "", verification } = await up();
      assert.deepEqual(
        [outputs["kubeconfig"]?.secret, outputs["apiEndpoint"]],
        [true, { value: "https://203.0.113.7:6443", secret: false }],
      );
      assert.equal(kubeconfigPath, embedder.kubeconfig());
      assert.equal(readFileSync(kubeconfigPath, "utf8"), cluster.kubeconfig);
      assert.equal(statSync(kubeconfigPath).mode & 0o777, 0o600);
      assert.equal(verification?.ok, true);
      assert.deepEqual(
        verification.nodes.map(({ name }) => name),
        ["dev-control-plane-0", "dev-general-0"],
      );
      assert.deepEqual(steps, [
        ...[asking, fitting, running, verifying, `${verifying}: nodes`],
        ...["coredns", "kube-proxy"].map((name) => `${verifying}: add-on kube-system/${name}`),
      ]);
    });

    it("can skip the preflight, the kubeconfig file and the verification", async () => {
      const result = await up({ preflight: false, kubeconfigFile: false, verify: false });
      assert.deepEqual(Object.keys(result.outputs).sort(), Object.keys(cluster.outputs).sort());
      assert.deepEqual([result.kubeconfigPath, result.verification], [undefined, undefined]);
      assert.ok(!existsSync(embedder.kubeconfig()));
      assert.deepEqual([steps, cloud.seen], [[running, verifying], []]);
    });

    it("gets an error and no resources if the cluster does not fit into the cloud", async () => {
      cloud.on("GET /image/images", { body: { images: [] } });
      const { message } = await fails(up(), "PREFLIGHT_FAILED");
      assert.match(message, /image: 'debian-12' does not exist/);
      assert.deepEqual(engine.operations(), []);
      const findings = await embedder.service().preflight("dev");
      assert.deepEqual(
        findings.map(({ severity }) => severity),
        ["problem"],
      );
    });

    it("gets an error for settings without a valid cluster, before any request", async () => {
      const settings = "config:\n  it:cluster:\n    image: 7\n";
      const { message } = await fails(up({ settings }), "INVALID_CONFIG");
      for (const path of ["image", "externalNetwork", "workers"])
        assert.ok(message.includes(`\n  cluster.${path}: `), path);
      await fails(embedder.service().preview("dev", { settings }), "INVALID_CONFIG");
      assert.deepEqual([engine.calls(), cloud.seen], [[], []]);
    });

    it("gets an error with the complete result if the verification fails", async () => {
      cluster.ready = false;
      const error = await fails(up({ patience: 1 }), "VERIFY_FAILED");
      assert.ok(error instanceof VerificationFailed);
      assert.match(error.message, /:\n {2}node dev-general-0: not Ready: no network plugin yet\n/);
      // This cloud contains no servers.
      assert.match(error.message, /\n {2}the server of dev-general-0 does not exist any more: `/);
      assert.equal(error.exitCode, 5);
      assert.equal(error.result.verification.nodes.length, 2);
      assert.equal(error.result.kubeconfigPath, embedder.kubeconfig());
      assert.match(JSON.stringify(error.result.outputs), /client-key-data/);
      for (const logged of [JSON.stringify(error), inspect(error, { depth: 6 })])
        assert.doesNotMatch(logged, /client-key-data/);
    });

    it("gets CANCELLED if it stops the operation during the verification", async () => {
      cluster.ready = false;
      const stop = new AbortController();
      const onStep: Listening["onStep"] = (title) => {
        if (title === verifying) stop.abort();
      };
      await fails(up({ onStep, signal: stop.signal }), "CANCELLED");
    });

    it("gets the leftovers of an interrupted run deleted before the check of names and quotas", async () => {
      const created = "2026-01-02T10:00:00Z";
      servers.push({ id: "late", name: "dev-general-0", metadata: marks, created });
      await fails(up(), "PREFLIGHT_FAILED");
      const manifest = { time: created };
      const stack = {
        type: "pulumi:pulumi:Stack",
        urn: urnOf("pulumi:pulumi:Stack", "it"),
        created,
      };
      const urn = urnOf(instanceType, "dev-general-0-server");
      const resource = { urn, type: instanceType, custom: true, inputs: { name: "dev-general-0" } };
      const pending = [{ type: "creating", resource }];
      engine.state({ manifest, resources: [stack, ofIdentity], pending_operations: pending });
      steps = [];
      await up({ onCluster });
      assert.deepEqual(deleted(), ["/compute/servers/late"]);
      const [whose, ...next] = steps.slice(0, 5);
      assert.equal(whose, `dev ${identity} in demo, nothing deleted`);
      assert.deepEqual(next, ["Delete what an interrupted run left", asking, fitting, running]);
      assert.match(notes.join("\n"), /repaired what it left: Instance 'dev-general-0-server'\.$/m);
    });
  });

  describe("that runs destroy", () => {
    const destroy = (options = {}) =>
      embedder.service().destroy("dev", { ...listening, ...options });
    const volume = {
      id: "v",
      name: "pvc-1",
      metadata: { "cinder.csi.openstack.org/cluster": `dev-${identity}` },
    };

    it("gets the controllers' leftovers deleted, and lists of deleted and kept objects", async () => {
      held();
      servers.push({ id: "late", name: "dev-x", metadata: marks });
      cloud.on("GET /volumev3/volumes/detail", { body: { volumes: [volume] } });
      const files = leftovers();
      const result = await destroy({ onCluster });
      assert.equal(steps.shift(), `dev ${identity} in demo, nothing deleted`);
      assert.deepEqual([result.clusters, result.held], [["dev"], true]);
      assert.deepEqual(
        [result.deleted, result.kept].map((list) => list.map(({ id }) => id)),
        [["late"], ["v"]],
      );
      assert.deepEqual(deleted(), ["/compute/servers/late"]);
      assert.deepEqual(steps.slice(0, 2), ["Destroy the cluster's resources", sweeping]);
      assert.ok(steps[2]?.startsWith(`${sweeping}: deleting the server 'dev-x'`), steps[2]);
      assert.equal(engine.stateNow(), undefined);
      assert.deepEqual(files.filter(existsSync), []);
    });

    it("gets an error while an object from the stack's state still exists in the cloud", async () => {
      held();
      servers.push({ id: "gone", name: "dev-general-0" });
      const files = leftovers();
      const { message } = await fails(destroy(), "FAILED");
      assert.match(message, /^These objects were not deleted: server 'dev-general-0'/);
      assert.deepEqual(files.filter(existsSync), files);
    });

    it("gets an error with the identity of a running cluster whose state is in another backend", async () => {
      servers.push({ id: "late", name: "dev-general-0", status: "ACTIVE", metadata: marks });
      const files = leftovers();
      const { message, hint } = await fails(destroy(), "STACK_NOT_FOUND");
      assert.match(message, /cluster 'dev', identity 0123456789ab: 1 objects, 1 of 1 servers runn/);
      assert.match(hint, /orphans --identity 0123456789ab` lists/);
      assert.deepEqual([deleted(), engine.operations()], [[], []]);
      assert.deepEqual(files.filter(existsSync), files);
    });

    it("gets an empty stack removed, and a list of data from an earlier cluster of the same name", async () => {
      engine.state({ resources: [] });
      cloud.on("GET /volumev3/volumes/detail", { body: { volumes: [volume] } });
      const { held: something, kept } = await destroy();
      assert.deepEqual([something, kept.map(({ id }) => id)], [false, ["v"]]);
      assert.deepEqual([engine.operations(), engine.stateNow()], [["destroy"], undefined]);
    });

    describe("for a cluster whose API refuses all requests", () => {
      let api: Server;
      let ready: boolean;
      let status: number;
      beforeEach(async () => {
        [ready, status] = [false, 401];
        api = createServer(({ url }, response) =>
          ready && url === "/readyz"
            ? response.end("ok")
            : response.writeHead(status).end("expired"),
        );
        await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
        holdsProvider();
      });
      afterEach(() => api.close());

      /** @param client further fields of the kubeconfig's user */
      function holdsProvider(client = ""): void {
        const url = `http://127.0.0.1:${String((api.address() as AddressInfo).port)}`;
        const kubeconfig = cluster.kubeconfig
          .replace(/server: \S+/, `server: ${url}`)
          .replace(/(?=client-key-data:)/, client);
        const provider = {
          urn: urnOf("stackadm:addons:Addons$pulumi:providers:kubernetes", "dev-addons-provider"),
          type: "pulumi:providers:kubernetes",
          id: "p",
          inputs: { kubeconfig },
        };
        const type = "kubernetes:core/v1:Service";
        const of = { provider: `${provider.urn}::p` };
        held(provider, { urn: urnOf(type, "web"), type, id: "ns/web", ...of });
      }

      it("gets an error, and the cluster stays unchanged", async () => {
        const { message } = await fails(destroy(), "KUBERNETES_LOGIN_REFUSED");
        assert.match(message, /it answers 401: expired\), .* Nothing was changed\.$/);
        assert.deepEqual([engine.operations(), deleted()], [[], []]);
      });

      it("gets the advice to fetch a new kubeconfig if the one in the state has expired", async () => {
        const script = `key=$(mktemp); trap 'rm "$key"' EXIT
          openssl ecparam -name prime256v1 -genkey -noout -out "$key"
          openssl req -new -key "$key" -subj /CN=admin | openssl x509 -req -signkey "$key" -days -1`;
        const cert = execFileSync("sh", ["-ec", script], { stdio: ["ignore", "pipe", "ignore"] });
        const pad = " ".repeat(6);
        holdsProvider(`client-certificate-data: ${cert.toString("base64")}\n${pad}`);
        const { hint } = await fails(destroy(), "KUBERNETES_LOGIN_REFUSED");
        assert.match(hint, /^The kubeconfig in the state expired on \d{4}-.*stackadm up/);
      });

      for (const answer of [403, 404])
        it(`gets an error if etcd lost its data and the ready API answers ${String(answer)}`, async () => {
          [ready, status] = [true, answer];
          const { message, hint } = await fails(destroy(), "KUBERNETES_UNREACHABLE");
          assert.match(
            message,
            /etcd may have lost the cluster's data\), .* Nothing was changed\.$/,
          );
          assert.match(hint, /destroy --abandon/);
          assert.deepEqual([engine.operations(), deleted()], [[], []]);
        });

      it("can abandon the cluster", async () => {
        await destroy({ abandon: true });
        assert.match(
          notes.join("\n"),
          /^1 resources that need the cluster's API were removed from the state/m,
        );
        assert.equal(engine.stateNow(), undefined);
      });
    });
  });
});

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  samplesNamespace,
  sampleWriterPodName,
  buildWebService,
} from "../../../../components/addons/manifests/samples.js";
import { unwrapped } from "../../../support/graph/unwrapped.js";
import { containerOf, find, objects, podSpecs } from "./objects.js";

const script = join(__dirname, "../../../../components/addons/write-and-read-back.sh");

describe("addons/manifests/samples", () => {
  it("stays in its own namespace with restricted pods", () => {
    for (const object of objects["samples"] ?? []) {
      const at = object.kind === "Namespace" ? object.metadata.name : object.metadata.namespace;
      assert.equal(at, samplesNamespace);
    }
    assert.deepEqual(find("Namespace", samplesNamespace).metadata.labels, {
      "pod-security.kubernetes.io/enforce": "restricted",
    });
  });

  it("runs its pods without root, capabilities and service account tokens", () => {
    for (const workload of ["Deployment web", "StatefulSet writer"]) {
      const pod = podSpecs().get(workload);
      assert.equal(pod?.automountServiceAccountToken, false);
      assert.deepEqual(pod.securityContext, {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000,
        seccompProfile: { type: "RuntimeDefault" },
      });
      for (const { securityContext } of pod.containers) {
        assert.deepEqual(securityContext, {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["ALL"] },
        });
      }
    }
  });

  it("answers every path with the pod's name, because netexec would execute commands", () => {
    assert.ok(containerOf("Deployment web", "web").args?.includes("--http-override=/hostname"));
  });

  it("has two web servers, spread over two nodes if possible", () => {
    const web = find("Deployment", "web") as unknown as { spec: { replicas: number } };
    assert.equal(web.spec.replicas, 2);
    const [spread] = podSpecs().get("Deployment web")?.topologySpreadConstraints ?? [];
    assert.equal(spread?.topologyKey, "kubernetes.io/hostname");
  });

  it("requests an internal load balancer by annotation and is ready once an address is assigned", () => {
    const ready = { "pulumi.com/waitFor": "jsonpath={.status.loadBalancer.ingress}" };
    const internal = "service.beta.kubernetes.io/openstack-internal-load-balancer";
    const annotations = (reach: "internal" | "external") =>
      unwrapped(buildWebService(reach)).metadata.annotations;
    assert.deepEqual(annotations("internal"), { ...ready, [internal]: "true" });
    assert.deepEqual(annotations("external"), ready);
    for (const reach of ["internal", "external"] as const) {
      const { spec, metadata } = unwrapped(buildWebService(reach));
      assert.equal(metadata.name, `web-${reach}`);
      assert.equal(spec?.type, "LoadBalancer");
      assert.deepEqual(spec.selector, { "app.kubernetes.io/name": "web" });
      assert.deepEqual(spec.ports, [
        { name: "http", port: 80, targetPort: "http", protocol: "TCP" },
      ]);
    }
  });

  it("claims 1 GiB of the default class and mounts the claim in one pod with a fixed name", () => {
    const claim = find("PersistentVolumeClaim", "data") as unknown as { spec: object };
    assert.deepEqual(claim.spec, {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
    });
    const writer = find("StatefulSet", "writer") as unknown as { spec: { replicas: number } };
    assert.equal(writer.spec.replicas, 1);
    assert.equal(sampleWriterPodName, "writer-0");
    const volumes = podSpecs().get("StatefulSet writer")?.volumes;
    assert.deepEqual(volumes?.[0]?.persistentVolumeClaim, { claimName: "data" });
  });

  it("is ready only after the data has been read back", () => {
    const { readinessProbe, env, command } = containerOf("StatefulSet writer", "writer");
    assert.deepEqual(readinessProbe?.exec?.command, ["test", "-f", "/tmp/proven"]);
    assert.match(readFileSync(script, "utf8"), /: >\/tmp\/proven\nexec /);
    assert.deepEqual(command, ["sh", "/scripts/write-and-read-back.sh"]);
    assert.deepEqual(env?.map(({ name }) => name).sort(), ["DATA_DIRECTORY", "POD_NAME"]);
  });
});

describe("addons/write-and-read-back.sh", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-writer-"));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  /** Runs the script, with its last two lines changed to use the test's directory. */
  const run = (environment: Record<string, string>) => {
    const text = readFileSync(script, "utf8")
      .replace("/tmp/proven", join(directory, "proven"))
      .replace("exec /agnhost pause", "exit 0");
    const copy = join(directory, "script.sh");
    writeFileSync(copy, text);
    return spawnSync("sh", [copy], {
      env: { PATH: process.env["PATH"], ...environment },
      encoding: "utf8",
    });
  };

  it("writes a line, reads it back and reports success", () => {
    const { stdout, status } = run({ POD_NAME: "writer-0", DATA_DIRECTORY: directory });
    assert.equal(status, 0);
    assert.match(stdout, /^read back: written by writer-0 on \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n$/);
    assert.equal(`read back: ${readFileSync(join(directory, "proof"), "utf8")}`, stdout);
    assert.ok(existsSync(join(directory, "proven")));
  });

  it("keeps the lines of an earlier pod", () => {
    run({ POD_NAME: "first", DATA_DIRECTORY: directory });
    run({ POD_NAME: "second", DATA_DIRECTORY: directory });
    const lines = readFileSync(join(directory, "proof"), "utf8").trim().split("\n");
    assert.deepEqual(
      lines.map((line) => line.split(" ")[2]),
      ["first", "second"],
    );
  });

  it("is not ready if the volume is not writable", () => {
    const missing = join(directory, "not-mounted");
    const { status, stdout } = run({ POD_NAME: "writer-0", DATA_DIRECTORY: missing });
    assert.notEqual(status, 0);
    assert.equal(stdout, "");
    assert.ok(!existsSync(join(directory, "proven")));
  });

  it("reports a missing variable", () => {
    const { status, stderr } = run({ POD_NAME: "writer-0" });
    assert.notEqual(status, 0);
    assert.match(stderr, /DATA_DIRECTORY/);
  });
});

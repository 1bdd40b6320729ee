import { strict as assert } from "node:assert";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import {
  controlPlaneMachine,
  runControlPlane,
  type controlPlaneValues,
} from "../../support/machine/control-plane.js";
import type { Sandbox } from "../../support/machine/sandbox.js";

describe("api-server-certificate.sh", () => {
  let machine: Sandbox;
  const run = (over?: Partial<typeof controlPlaneValues>, occasion?: "update") =>
    runControlPlane(machine, over, occasion);
  beforeEach(() => {
    machine = controlPlaneMachine();
  });
  afterEach(() => {
    machine.close();
  });
  beforeEach(() => {
    run();
    for (const end of ["crt", "key"]) machine.put(`etc/kubernetes/pki/apiserver.${end}`, "OLD");
    machine.stub("cp", 'exec /bin/cp "$@"');
    machine.stub(
      "kubectl",
      'case "$*" in *readyz*) printf ok ;; *namespace*) printf "uid: the-uid\nclusterName: dev\n" ;; *kubeadm-config*) printf "apiServer:\n  certSANs:\n  - old.example\n  - 203.0.113.1\n  extraArgs:\n  - name: v\n    value: \\"2\\"\nclusterName: dev\ncontrolPlaneEndpoint: x\n" ;; esac',
    );
    machine.stub(
      "kubeadm",
      'case "$*" in *"certs apiserver"*) [ ! -e /etc/kubernetes/pki/apiserver.crt ] || exit 1; cp "$6" $root/document; echo NEW >/etc/kubernetes/pki/apiserver.crt ;; esac',
    );
  });
  it("restores the former certificate if the previous run was interrupted during the replacement", () => {
    for (const end of ["crt", "key"]) {
      machine.put(`etc/kubernetes/pki/apiserver.old/apiserver.${end}`, "OLD");
      rmSync(join(machine.root, `etc/kubernetes/pki/apiserver.${end}`));
    }
    assert.equal(run({}, "update").code, 0);
    assert.equal(machine.file("etc/kubernetes/pki/apiserver.crt"), "OLD");
    assert.equal(machine.file("etc/kubernetes/pki/apiserver.old/apiserver.crt"), undefined);
  });

  const lacks = (name: string): void => {
    machine.stub(
      "openssl",
      `case "$*" in *-check*${name}) echo "does NOT match certificate" ;; *-check*) echo " does match certificate" ;; dgst*) echo "abc123 *stdin" ;; *) cat ;; esac`,
    );
  };

  it("keeps a certificate that has every name", () => {
    assert.ok(!run().calls.some((call) => call.includes("certs apiserver")));
    assert.equal(machine.file("etc/kubernetes/pki/apiserver.crt"), "OLD");
  });

  it("signs another certificate and updates the cluster's configuration if a name is missing", () => {
    lacks("203.0.113.7");
    const { code, stderr, calls } = run();
    assert.equal(code, 0, stderr);
    assert.equal(machine.file("etc/kubernetes/pki/apiserver.crt"), "NEW\n");
    const [cluster, init] = parseAllDocuments(machine.file("document") ?? "").map(
      (each) => each.toJS() as unknown,
    );
    assert.deepEqual(cluster, {
      apiServer: {
        certSANs: ["api.dev.internal", "203.0.113.7"],
        extraArgs: [{ name: "v", value: "2" }],
      },
      clusterName: "dev",
      controlPlaneEndpoint: "x",
    });
    assert.deepEqual(init, {
      apiVersion: "kubeadm.k8s.io/v1beta4",
      kind: "InitConfiguration",
      localAPIEndpoint: { advertiseAddress: "10.0.0.5" },
      timeouts: { controlPlaneComponentHealthCheck: "240s" },
    });
    assert.ok(calls.some((call) => call.startsWith("kubeadm init phase upload-config kubeadm")));
  });

  it("checks the certificate for IP addresses and for host names", () => {
    const looks = run().calls.filter((call) => call.includes("-check"));
    assert.match(looks.join("\n"), /-checkhost api\.dev\.internal$/m);
    assert.match(looks.join("\n"), /-checkip 203\.0\.113\.7$/m);
  });

  it("restores the former certificate if kubeadm fails to sign another", () => {
    lacks("203.0.113.7");
    machine.stub("kubeadm", "exit 1");
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(stderr, /kubeadm did not sign a certificate for 203\.0\.113\.7/);
    assert.equal(machine.file("etc/kubernetes/pki/apiserver.crt"), "OLD");
  });
});

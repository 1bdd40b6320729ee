import { strict as assert } from "node:assert";
import { controlPlaneMachine, runControlPlane } from "../../support/machine/control-plane.js";
import type { Sandbox } from "../../support/machine/sandbox.js";
import { flag } from "../../support/machine/static-pod-stubs.js";

const givesUp =
  'case "$1" in init) mkdir -p /etc/kubernetes/pki; echo "error: context deadline exceeded"; exit 1 ;; esac';

describe("the failure message of kubeadm init", () => {
  let machine: Sandbox;
  const reason = (log: string): string => {
    machine.stub("kubeadm", givesUp);
    machine.stub(
      "crictl",
      `case "$*" in *"ps --all"*) echo 0123 ;; "logs "*) cat <<'LOG'\n${log}\nLOG\n;; esac`,
    );
    return (
      runControlPlane(machine, { CONFIGURATION: flag("good") })
        .stderr.split("\n")
        .at(-2) ?? ""
    );
  };
  beforeEach(() => {
    machine = controlPlaneMachine();
  });
  afterEach(() => {
    machine.close();
  });
  const failed = "reason: kubeadm init failed on dev-control-plane-0: context deadline exceeded";

  it("includes the error of an API server that exited because of a flag", () => {
    assert.equal(
      reason("E1127 18:00:00.000000 1 x.go:1] late\nError: unknown flag: --gone"),
      `${failed}; kube-apiserver exited: Error: unknown flag: --gone; correct kubernetes.apiServer or kubernetes.patches and run up again`,
    );
  });

  it("omits the log of an API server that is only slow", () => {
    const slow =
      'E1127 18:00:00.000000 1 controller.go:113] "failed to fetch openapi paths: Get https://[::1]:6443: net/http: TLS handshake timeout"';
    assert.equal(reason(`${slow}\nI1127 18:00:01.000000 1 x.go:1] more`), failed);
  });
});

import { strict as assert } from "node:assert";
import {
  controlPlaneMachine,
  controlPlaneValues,
  runControlPlane,
} from "../../../support/machine/control-plane.js";
import type { Sandbox } from "../../../support/machine/sandbox.js";

describe("control-plane.sh on a machine with systemd-resolved", () => {
  let machine: Sandbox;
  /**
   * Stub of kubeadm: `init` uploads its settings with those of this machine; a later upload has
   * only the document.
   */
  const kubeadm = [
    'case "$*" in "init --config"*)',
    "  mkdir -p /etc/kubernetes/pki /var/lib/kubelet; echo CONF >/etc/kubernetes/admin.conf; echo CA >/etc/kubernetes/pki/ca.crt",
    '  echo "resolvConf: /run/systemd/resolve/resolv.conf" >/var/lib/kubelet/config.yaml; cp /var/lib/kubelet/config.yaml $root/uploaded ;;',
    '"init phase upload-config kubelet --config "*)',
    "  [ -e $root/refuses ] && exit 1; cat $6 >$root/uploaded ;;",
    "esac",
  ].join("\n");
  beforeEach(() => {
    machine = controlPlaneMachine();
    machine.stub("kubeadm", kubeadm);
    machine.stub("cp", 'cat "$1" >"$2"');
  });
  afterEach(() => {
    machine.close();
  });

  it("keeps the machine's resolver out of the configuration for all kubelets", () => {
    const { code, stderr } = runControlPlane(machine);
    assert.equal(code, 0, stderr);
    assert.equal(machine.file("uploaded"), controlPlaneValues.KUBEADM_INIT);
    assert.match(machine.file("var/lib/kubelet/config.yaml") ?? "", /^resolvConf: /);
  });

  it("fails kubeadm init if the upload of the configuration fails", () => {
    machine.put("refuses");
    assert.match(runControlPlane(machine).stderr, /\nreason: kubeadm init failed on dev-control/);
    assert.equal(machine.file("var/lib/stackadm/init.done"), undefined);
  });
});

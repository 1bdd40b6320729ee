import { strict as assert } from "node:assert";
import { preparationScripts } from "../../../../components/machine/preparation.js";
import { freshDebian, workerValues } from "../../../support/machine/fresh-debian.js";
import { Sandbox, type Outcome } from "../../../support/machine/sandbox.js";

describe("prepare.sh on a machine in service with another version", () => {
  let machine: Sandbox;
  let restore: () => void;
  const run = (): Outcome => machine.run(preparationScripts, workerValues());
  before(() => {
    machine = new Sandbox(freshDebian);
    run();
    restore = machine.keep();
  });
  afterEach(() => {
    restore();
  });
  after(() => {
    machine.close();
  });

  const join = (version: string): void => {
    machine.put("var/lib/stackadm/join.done");
    machine.stub("kubelet", `echo Kubernetes v${version}`);
  };

  it("downloads packages and images of the upgrade from the version's repository, without an upgrade", () => {
    join("1.35.4");
    machine.put("etc/apt/sources.list.d/stackadm.list", "deb former\n");
    machine.stub(
      "kubeadm",
      'case "$*" in *images*) printf "r/%s\\n" kube-proxy:v1.36.3 pause:3.9 ;; *version*) echo v1.35.4 ;; esac',
    );
    const { code, calls, stderr } = run();
    assert.equal(code, 0, stderr);
    const installs = calls.filter((call) => / install /.test(call));
    assert.equal(installs.length, 1);
    assert.match(
      installs[0] ?? "",
      / --download-only kubeadm=1\.36\.3-2\.1 kubelet=1\.36\.3-2\.1 kubectl=1\.36\.3-2\.1 cri-tools=1\.36\.0-1\.1 kubernetes-cni=1\.9\.1-1\.1$/,
    );
    assert.match(machine.file("etc/apt/sources.list.d/stackadm.list") ?? "", /v1\.36\/deb/);
    assert.match(machine.file("etc/containerd/config.toml") ?? "", /sandbox = "r\/pause:3\.10"/);
    assert.ok(!calls.some((call) => /restart/.test(call)), calls.join("\n"));
    const images = machine.file("run/stackadm/images") ?? "";
    assert.match(images, /^r\/kube-proxy:v1\.36\.3\n/);
    assert.doesNotMatch(images, /pause/);
  });

  it("fails before the upgrade of any machine if the version does not exist", () => {
    join("1.35.4");
    machine.stub("apt-cache", "exit 0");
    assert.match(run().stderr, /reason: neither \S+ nor another .* has kubeadm of series 1\.36\.3/);
  });

  it("refuses a downgrade, even if only the API server has a later version", () => {
    join("1.37.0");
    const sentence =
      /INVALID_CONFIG\] kubernetes\.version: machine has Kubernetes 1\.37\.0 and cannot go back to 1\.36\.3; write 1\.37\.0\n$/;
    assert.match(run().stderr, sentence);
    machine.stub("kubelet", "echo Kubernetes v1.36.3");
    const image = "    image: r.example/kube-apiserver:v1.37.0\n    image: other/thing:v9.0.0\n";
    machine.put("etc/kubernetes/manifests/kube-apiserver.yaml", image);
    const { stderr, calls } = run();
    assert.match(stderr, sentence);
    assert.ok(!calls.some((call) => call.startsWith("apt-get")));
  });

  it("reverts kubeadm if an upgrade changed only kubeadm", () => {
    join("1.36.3");
    machine.stub("kubeadm", "echo v1.37.0");
    assert.ok(run().calls.some((call) => / install .*kubeadm=1\.36\.3/.test(call)));
  });
});

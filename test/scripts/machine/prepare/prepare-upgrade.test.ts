import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import { join as joinPath } from "node:path";
import { preparationScripts } from "../../../../components/machine/preparation.js";
import { freshDebian, workerValues } from "../../../support/machine/fresh-debian.js";
import { Sandbox, type Outcome } from "../../../support/machine/sandbox.js";

const builds = "var/cache/stackadm/containerd-builds";

describe("prepare.sh on a machine in service with another version", () => {
  let machine: Sandbox;
  let restore: () => void;
  const run = (over: Record<string, string> = {}): Outcome =>
    machine.run(preparationScripts, { ...workerValues(), ...over });
  /** Returns the builds that apt downloads as files, in order. */
  const downloads = ({ calls }: Outcome): string[] =>
    calls.flatMap((call) => /^apt-get .* download (\S+)$/.exec(call)?.[1] ?? []);
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
    const done = run();
    const { code, calls, stderr } = done;
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
    assert.deepEqual(downloads(done), [
      "containerd.io=2.2.1-1~debian.12~bookworm",
      "containerd.io=2.2.0-1~debian.12~bookworm",
    ]);
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

  it("keeps a suitable containerd if a newer one cannot be downloaded for the upgrade", () => {
    join("1.35.4");
    const body = machine.bodyOf("apt-get");
    machine.stub(
      "apt-get",
      `case "$*" in *" download "*) echo "E: Failed to fetch x"; exit 100 ;; esac\n${body}`,
    );
    const { code, stderr } = run();
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /\nmachine: keeps its containerd in this upgrade: containerd\.io 2\.2\.1-1~debian\.12~bookworm cannot be downloaded on machine: Failed to fetch x\n/,
    );
    assert.equal(existsSync(joinPath(machine.root, builds)), false);
    machine.stub("containerd", "echo containerd containerd.io v2.1.4 abc");
    assert.match(run().stderr, /\nreason: containerd\.io 2\.2\.1\S* cannot be downloaded/);
  });

  describe("after the generation of containerd has changed", () => {
    const generation = { CONTAINERD_GENERATION: "2" };
    beforeEach(() => {
      join("1.36.3");
    });

    it("downloads containerd once for its turn, and installs nothing", () => {
      const done = run(generation);
      assert.equal(done.code, 0, done.stderr);
      assert.equal(downloads(done).length, 2);
      assert.ok(!done.calls.some((call) => / install |restart/.test(call)));
      machine.put("var/lib/stackadm/kept-containerd", "2");
      machine.put(`${builds}/next/containerd.io_2.deb`);
      assert.deepEqual(downloads(run(generation)), []);
      assert.equal(existsSync(joinPath(machine.root, builds)), false, "no old build remains");
    });

    it("downloads nothing if the newest build is installed", () => {
      machine.stub("dpkg", 'case "$*" in --compare-versions*) exit 1 ;; esac');
      assert.deepEqual(downloads(run(generation)), []);
      machine.stub("containerd", "echo containerd containerd.io v2.5.0 abc");
      assert.equal(downloads(run(generation)).length, 2, "one outside of the bounds is replaced");
    });

    it("fails if the build cannot be downloaded, and continues if only the former build cannot", () => {
      const body = machine.bodyOf("apt-get");
      const without = (build: string): void => {
        machine.stub("apt-get", `case "$*" in *${build}*) exit 100 ;; esac\n${body}`);
      };
      without("containerd.io=2.2.1");
      assert.match(run(generation).stderr, /\nreason: containerd\.io 2\.2\.1\S* cannot be/);
      without("containerd.io=2.2.0");
      const { code, stderr } = run(generation);
      assert.equal(code, 0, stderr);
      assert.match(stderr, /containerd\.io 2\.2\.0\S+ is in no repository any more, so/);
    });

    it("also downloads runc if both come from the distribution", () => {
      machine.stub(
        "dpkg-query",
        'case "$*" in *Version*runc*) echo installed runc 1.3.3-0ubuntu1 ;; *Version*containerd*) echo installed containerd 2.2.1-0ubuntu1 ;; esac',
      );
      machine.stub(
        "apt-cache",
        'case "$1 $2" in "policy runc") printf "runc:\n  Installed: 1.3.3-0ubuntu1\n  Candidate: 1.3.4-0ubuntu1\n" ;; *" containerd") echo "containerd | 2.2.2-0ubuntu1 | x" ;; esac',
      );
      const done = run(generation);
      assert.equal(done.code, 0, done.stderr);
      assert.deepEqual(downloads(done), [
        ...["containerd=2.2.2-0ubuntu1", "containerd=2.2.1-0ubuntu1"],
        ...["runc=1.3.4-0ubuntu1", "runc=1.3.3-0ubuntu1"],
      ]);
    });

    it("keeps a containerd that apt did not install, if it is suitable", () => {
      machine.stub("dpkg-query", "exit 1");
      const done = run(generation);
      assert.equal(done.code, 0, done.stderr);
      assert.match(
        done.stderr,
        /machine: apt did not install its containerd, which stays as it is/,
      );
      assert.deepEqual(downloads(done), []);
      machine.stub("containerd", "echo containerd github.com/containerd/containerd/v2 v2.1.0");
      assert.match(
        run(generation).stderr,
        /INVALID_CONFIG\] containerd of machine is not 2\.2 to 2\.4, and apt did not install it;/,
      );
    });
  });

  it("reports a containerd outside of the bounds, which only its turn changes", () => {
    join("1.36.3");
    machine.stub("containerd", "echo containerd containerd.io v2.1.4 abc");
    const { code, stderr } = run();
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /machine: its containerd is not 2\.2 to 2\.4; raise kubernetes\.packages\.containerd\.generation to change it\n/,
    );
  });

  it("reverts kubeadm if an upgrade changed only kubeadm", () => {
    join("1.36.3");
    machine.stub("kubeadm", "echo v1.37.0");
    assert.ok(run().calls.some((call) => / install .*kubeadm=1\.36\.3/.test(call)));
  });
});

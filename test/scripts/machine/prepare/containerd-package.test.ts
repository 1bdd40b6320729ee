import { strict as assert } from "node:assert";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { preparationScripts } from "../../../../components/machine/preparation.js";
import { answering, freshDebian, workerValues } from "../../../support/machine/fresh-debian.js";
import { Sandbox, type Outcome } from "../../../support/machine/sandbox.js";
import { nonEmpty } from "../../../support/non-empty.js";

const docker = "9DC858229FC7DD38854AE2D88D81803C0EBFCD88";
const upstream = "DE15B14486CD377B9E876E1A234654DA9A296436";
const release = 'PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\nVERSION_CODENAME=bookworm\n';
const keyring = "etc/apt/keyrings/stackadm-containerd.asc";
const apart = "var/cache/stackadm/containerd";

/** Versions of containerd in the distribution and in the separate repository. */
interface Builds {
  readonly distribution?: string;
  readonly separate?: string;
}

describe("the source of containerd", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
    machine.put("etc/os-release", release);
    machine.stub("curl", answering('case "$*" in *docker*) echo DOCKER ;; *) echo KEY ;; esac'));
    machine.stub(
      "gpg",
      [
        `case "$*" in`,
        `  *--show-keys*) read -r key; id=${upstream}; [ "$key" != DOCKER ] || id=${docker}; echo pub; echo fpr:::::::::$id: ;;`,
        `  *--export*) echo "PINNED \${@: -1}" ;;`,
        "esac",
      ].join("\n"),
    );
    has({ separate: "1:3.0.0-1 2.2.1-1~debian.12~bookworm 2.2.0-1~debian.12~bookworm" });
  });
  afterEach(() => {
    machine.close();
  });

  function has({ distribution = "", separate = "" }: Builds): void {
    machine.stub(
      "apt-get",
      `case "$*" in
        *stackadm.list*) ;;
        *sourcelist=*update) cat $root/${apart}/sources.list >$root/asked ;;
        *" download "*) name=\${@: -1}; echo deb >"\${name%%=*}_\${name#*=}_amd64.deb" ;;
        *update) touch $root/updated ;;
        *install*) ${freshDebian["apt-get"] ?? ""} ;;
      esac`,
    );
    machine.stub(
      "apt-cache",
      [
        `apart=; case "$*" in *sourcelist=*) apart=yes ;; esac`,
        'case "$2" in',
        `  containerd.io) builds=\${apart:+${separate}} ;;`,
        `  containerd) builds=1.6.20~ds1-1; [ ! -e $root/updated ] || builds="${distribution} $builds" ;;`,
        "  kubernetes-cni) builds=1.9.1-1.1 ;;",
        "  cri-tools) builds=1.36.0-1.1 ;;",
        "  *) builds=1.36.3-1.1 ;;",
        "esac",
        'for build in $builds; do echo " $2 | $build | x"; done',
      ].join("\n"),
    );
  }
  const run = (over: Record<string, string> = {}): Outcome =>
    machine.run(preparationScripts, { ...workerValues(), ...over });
  const installed = ({ calls }: Outcome): string =>
    calls.find((call) => call.includes(" install ")) ?? "";

  it("is a separate repository if no other one has containerd, with the newest build of the series", () => {
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.equal(
      machine.file("asked")?.replaceAll(machine.root, ""),
      `deb [signed-by=/${keyring}] https://download.docker.com/linux/debian bookworm stable\n`,
    );
    assert.ok(
      done.calls.some((call) => call.endsWith(" https://download.docker.com/linux/debian/gpg")),
    );
    assert.match(
      installed(done),
      / \S+\/containerd\/containerd\.io_2\.2\.1-1~debian\.12~bookworm_amd64\.deb$/,
    );
  });

  it("is verified by a pinned key that is trusted for the separate repository only", () => {
    run();
    assert.equal(machine.file(keyring), `PINNED ${docker}\n`);
    assert.equal(machine.file("etc/apt/keyrings/stackadm.asc"), `PINNED ${upstream}\n`);
  });

  it("does not remain a source of apt, and the package is held", () => {
    const { calls } = run();
    assert.doesNotMatch(machine.file("etc/apt/sources.list.d/stackadm.list") ?? "", /docker/);
    assert.equal(machine.file(`${apart}/sources.list`), undefined);
    assert.ok(calls.some((call) => /^apt-mark hold .* containerd\.io$/.test(call)));
    const asking = calls.filter((call) =>
      /^apt-(get|cache) .*sourcelist=\S+\/containerd\//.test(call),
    );
    assert.deepEqual(
      asking.map((call) => / (update|madison|download)\b/.exec(call)?.[1]),
      ["update", "madison", "download"],
    );
    for (const call of asking)
      assert.match(call, / Dir::Etc::sourceparts=- .* Dir::State::lists=\S+ .* Dir::Cache=/);
  });

  it("provides no minor outside of the bounds, and replaces such a minor that the image contains", () => {
    has({ separate: "2.10.0-1 2.5.0-1 2.4.1-1 2.2.1-1 2.1.4-1 1.7.28-1" });
    assert.match(installed(run()), /\/containerd\.io_2\.4\.1-1_amd64\.deb$/);
    machine.put("installed");
    for (const [version, replaced] of [
      ["2.1.9", true],
      ["2.2.0", false],
      ["2.4.9", false],
      ["2.5.0", true],
    ] as const) {
      machine.stub("containerd", `echo containerd containerd.io v${version} abc`);
      assert.equal(installed(run()).includes("/containerd.io_2.4.1-1"), replaced, version);
    }
  });

  it("is not asked for a machine in service, whose containerd changes only at its turn", () => {
    run();
    machine.put("var/lib/stackadm/join.done");
    machine.stub("containerd", "echo containerd containerd.io v2.1.4 abc");
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.equal(installed(done), "");
  });

  it("is the distribution if the updated lists contain a suitable build", () => {
    has({ distribution: "2.2.4~ds1-1", separate: "2.2.1-1" });
    const done = run();
    assert.equal(done.code, 0, done.stderr);
    assert.match(installed(done), / containerd=2\.2\.4~ds1-1$/);
    for (const call of done.calls) assert.doesNotMatch(call, /docker/);
    assert.equal(machine.file(keyring), undefined);
  });

  it("is the separate repository if a list of the distribution cannot be fetched, with a warning", () => {
    const body = machine.bodyOf("apt-get");
    machine.stub(
      "apt-get",
      `case "$*" in *sourceparts*) ;; *" update") echo "E: Failed to fetch x"; exit 100 ;; esac\n${body}`,
    );
    const { code, stderr } = run();
    assert.equal(code, 0, stderr);
    assert.match(stderr, /not all of its package lists can be fetched: Failed to fetch x/);
  });

  it("is the image or the first repository if either contains a suitable build", () => {
    machine.stub("apt-cache", freshDebian["apt-cache"] ?? "");
    const done = run();
    assert.match(installed(done), / containerd\.io=2\.2\.1-1~debian\.12~bookworm$/);
    assert.ok(!done.calls.some((call) => / update$/.test(call) && !call.includes("stackadm.list")));
    assert.ok(!done.calls.some((call) => call.includes("docker")));
  });

  it("causes an error with the setting to change if no repository has a suitable build", () => {
    has({ separate: "1.7.28-1" });
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(
      stderr,
      /\nreason: \[INVALID_CONFIG\] kubernetes\.packages\.containerd\.source: neither https:\/\/pkgs\.k8s\.io\/\S+ nor another repository of machine nor https:\/\/download\.docker\.com\/linux\/debian bookworm stable has containerd\.io of series 2\.2 to 2\.4; write a repository that has it\n$/,
    );
  });

  it("causes an error with the setting to change if curl or apt cannot reach the repository", () => {
    const body = machine.bodyOf("apt-get");
    machine.stub(
      "apt-get",
      `case "$*" in *containerd/sources.list*update) echo "E: Failed to fetch x"; exit 100 ;; esac\n${body}`,
    );
    assert.match(
      run().stderr,
      /\nreason: kubernetes\.packages\.containerd\.source: the packages of https:\S+ bookworm stable cannot be listed on machine: Failed to fetch x; write another address in kubernetes\.packages\.containerd\.source\n$/,
    );
    machine.stub("curl", answering('case "$*" in *docker*) exit 7 ;; *) echo KEY ;; esac'));
    assert.match(
      run().stderr,
      /\nreason: kubernetes\.packages\.containerd\.key: machine asked https:\S+\/debian\/gpg for the key of https:\S+ bookworm stable and got no answer \(curl ended with code 7\); let the machine reach it, .*, or write another address in kubernetes\.packages\.containerd\.key\n$/,
    );
  });

  it("is refused before any request for packages if another key signs the repository", () => {
    const { code, stderr, calls } = run({ CONTAINERD_KEY_FINGERPRINT: "A".repeat(40) });
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(
        `\\[INVALID_CONFIG\\] kubernetes\\.packages\\.containerd\\.keyFingerprint: .* is signed by ${docker}, not by AAAA`,
      ),
    );
    assert.equal(machine.file(keyring), undefined);
    assert.ok(!calls.some((call) => call.includes(apart)));
  });

  it("requires the distribution's name only if the setting contains a placeholder for that name", () => {
    machine.put("etc/os-release", "ID='of $(touch here)'\n");
    const { stderr } = run();
    assert.match(
      stderr,
      /\nreason: \[INVALID_CONFIG\] kubernetes\.packages\.containerd: \/\S*etc\/os-release of machine has no ID for \{distribution\}; write source and key without it\n$/,
    );
    const over = {
      CONTAINERD_SOURCE: "http://docker.test/x /",
      CONTAINERD_KEY: "http://docker.test/k",
    };
    const done = run(over);
    assert.equal(done.code, 0, done.stderr);
    assert.match(machine.file("asked") ?? "", /\] http:\/\/docker\.test\/x \/\n$/);
  });

  it("provides newer builds for the turn of a machine in service, and is then forgotten", () => {
    run();
    machine.put("var/lib/stackadm/join.done");
    has({ separate: "2.4.1-1 2.2.1-1~debian.12~bookworm" });
    const done = run({ CONTAINERD_GENERATION: "1" });
    assert.equal(done.code, 0, done.stderr);
    const builds = "var/cache/stackadm/containerd-builds";
    assert.equal(machine.file(`${builds}/next/containerd.io_2.4.1-1_amd64.deb`), "deb\n");
    const former = "containerd.io_2.2.0-1~debian.12~bookworm_amd64.deb";
    assert.equal(machine.file(`${builds}/former/${former}`), "deb\n");
    for (const call of nonEmpty(done.calls.filter((one) => / download /.test(one))))
      assert.match(call, / Dir::Etc::sourceparts=- /);
    assert.equal(machine.file(`${apart}/sources.list`), undefined);
    assert.equal(installed(done), "");
  });

  it("is not requested again in the second run", () => {
    run();
    assert.deepEqual(
      run().calls.filter((call) => /apt-get|curl|gpg .*--export/.test(call)),
      [],
    );
  });
});

describe("the preparation of a machine without apt", () => {
  let machine: Sandbox;
  beforeEach(() => {
    const { "apt-get": absent, ...others } = freshDebian;
    assert.ok(absent);
    machine = new Sandbox(others);
  });
  afterEach(() => {
    machine.close();
  });

  it("fails with the supported systems before any change", () => {
    machine.put("etc/os-release", 'PRETTY_NAME="Fedora Linux 42"\n');
    const { code, stderr, calls } = machine.run(preparationScripts, workerValues());
    assert.equal(code, 1);
    assert.match(
      stderr,
      /\nreason: machine runs Fedora Linux 42, which is not supported: it has no apt; choose an image of Debian 12 or 13, or of Ubuntu 22\.04, 24\.04 or later\n$/,
    );
    assert.ok(!calls.some((call) => /^(curl|gpg|sysctl|modprobe)/.test(call)));
  });

  it("succeeds if the image contains all packages", () => {
    machine.put("installed");
    machine.put("opt/cni/bin/loopback");
    chmodSync(join(machine.root, "opt/cni/bin/loopback"), 0o755);
    const { code, stderr } = machine.run(preparationScripts, workerValues());
    assert.equal(code, 0, stderr);
  });
});

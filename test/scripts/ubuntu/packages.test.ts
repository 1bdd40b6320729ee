import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { preparationScripts } from "../../../components/machine/preparation.js";
import { answering, freshDebian, workerValues } from "../../support/machine/fresh-debian.js";
import { Sandbox, type Outcome } from "../../support/machine/sandbox.js";
import { osRelease, ubuntuReleases, type UbuntuRelease } from "../../support/machine/ubuntu.js";
import {
  aptSettings,
  needrestartExclusions,
  packageSources,
  upgradedOrigins,
} from "../../support/machine/ubuntu-files.js";
import { unpacked } from "../../support/machine/unpacked-packages.js";
import { firstBootFiles } from "../../support/machine/first-boot-files.js";

const docker = "9DC858229FC7DD38854AE2D88D81803C0EBFCD88";
const upstream = "DE15B14486CD377B9E876E1A234654DA9A296436";
const pools = "https://download.docker.com/linux/ubuntu";

/** Returns a new machine of a release; its repositories have these versions of containerd. */
function ubuntuMachine(release: UbuntuRelease, ...builds: readonly string[]): Sandbox {
  const machine = new Sandbox(freshDebian);
  machine.put("etc/os-release", osRelease(release));
  // Like apt-cache, which prints an Ubuntu version once per suite.
  const suites = ["-updates/main", "-security/main"].map(
    (suite) => `http://archive.ubuntu.com/ubuntu ${release.codename}${suite} amd64 Packages`,
  );
  const lines = builds.flatMap((build) =>
    suites.map((suite) => `containerd | ${build} | ${suite}`),
  );
  machine.stub(
    "apt-cache",
    `case "$*" in
      *sourcelist=*) echo "containerd.io | 2.4.1-1~ubuntu.${release.version}~${release.codename} | x" ;;
      *containerd.io*) ;;
      *containerd*) printf '%s\\n' ${lines.map((line) => `'${line}'`).join(" ")} ;;
      *) ${freshDebian["apt-cache"] ?? ""} ;;
    esac`,
  );
  machine.stub(
    "apt-get",
    `case "$*" in *" download "*) echo deb >containerd.io_amd64.deb ;; *install*) ${freshDebian["apt-get"] ?? ""} ;; esac
    case "$*" in *containerd/sources.list*update) cat /var/cache/stackadm/containerd/sources.list >$root/asked ;; esac`,
  );
  machine.stub("curl", answering('case "$*" in *docker*) echo DOCKER ;; *) echo KEY ;; esac'));
  machine.stub(
    "gpg",
    `case "$*" in
      *--show-keys*) read -r key; id=${upstream}; [ "$key" != DOCKER ] || id=${docker}; echo pub; echo fpr:::::::::$id: ;;
      *--export*) echo PINNED ;;
    esac`,
  );
  return machine;
}

/** Returns the path of a configuration with which apt reads this machine's files only. */
function aptConfiguration(machine: Sandbox): string {
  const parts = join(machine.root, "etc/apt/apt.conf.d");
  const lines = [`Dir "${machine.root}";`, `Dir::Etc::parts "${parts}";`];
  machine.put("apt.conf", [...lines, 'Dir::Etc::main "/dev/null";', ""].join("\n"));
  return join(machine.root, "apt.conf");
}

describe("the package installation on an Ubuntu machine", () => {
  let machine: Sandbox;
  const run = (): Outcome => machine.run(preparationScripts, workerValues());
  const installed = ({ calls }: Outcome): string =>
    calls.find((call) => / install .*kubeadm=/.test(call) && !call.includes("--download-only")) ??
    "";
  afterEach(() => {
    machine.close();
  });

  for (const release of ubuntuReleases)
    it(`installs containerd of ${release.codename}, or Docker's for ${release.version} if Ubuntu's is too old`, () => {
      machine = ubuntuMachine(release, release.containerd, "1.7.12-0ubuntu4");
      const own = run();
      assert.equal(own.code, 0, own.stderr);
      assert.ok(installed(own).endsWith(` containerd=${release.containerd}`), installed(own));
      assert.equal(machine.file("asked"), undefined);
      machine.close();
      machine = ubuntuMachine(release, "1.7.12-0ubuntu4");
      const other = run();
      assert.equal(other.code, 0, other.stderr);
      assert.match(installed(other), /\/containerd\.io_amd64\.deb$/);
      assert.match(
        machine.file("asked") ?? "",
        new RegExp(`\\] ${pools} ${release.codename} stable\n$`),
      );
      assert.ok(other.calls.some((call) => call.endsWith(` ${pools}/gpg`)));
    });

  for (const release of ubuntuReleases)
    it(`lists the program's repository, then all, then Docker's alone on ${release.version}`, () => {
      machine = ubuntuMachine(release, "1.7.12-0ubuntu4");
      for (const [name, text] of Object.entries(packageSources(release.codename)))
        machine.put(`etc/apt/${name}`, text);
      for (const [name, text] of Object.entries(aptSettings))
        machine.put(`etc/apt/apt.conf.d/${name}`, text);
      const others = machine.bodyOf("apt-get");
      // Instead of a download, apt prints the sites of the requests.
      machine.stub(
        "apt-get",
        `case "$*" in *" update") { echo update; APT_CONFIG=${aptConfiguration(machine)} /usr/bin/apt-get "\${@:1:$#-1}" indextargets --no-release-info --format '$(SITE)'; } >>$root/sites ;; *) ${others} ;; esac`,
      );
      const { code, stderr } = run();
      assert.equal(code, 0, stderr);
      const [, ...updates] = (machine.file("sites") ?? "").split("update\n");
      const own = (workerValues()["PACKAGES_URL"] ?? "").replace(/\/$/, "");
      const ubuntu = ["http://archive.ubuntu.com/ubuntu", "http://security.ubuntu.com/ubuntu"];
      assert.deepEqual(
        updates.map((sites) => [...new Set(sites.split("\n").filter(Boolean))].sort()),
        [[own], [...ubuntu, own], [pools]],
      );
    });
});

describe("needrestart on an Ubuntu machine", () => {
  /**
   * Prints the services that needrestart would restart. The first rule that matches decides; 3.11
   * sorts the rules, earlier versions take any order.
   */
  const decision = `
    our (%nrconf, $LOGPREF) = (verbosity => 0);
    my $file = shift;
    eval do { local(@ARGV, $/) = $file; <> };
    die $@ if $@;
    for my $rc (@ARGV) {
      my $restart = 1;
      for my $re (keys %{$nrconf{override_rc}}) {
        next unless $rc =~ /$re/;
        $restart = $nrconf{override_rc}->{$re};
        last;
      }
      print qq($rc\\n) if $restart;
    }`;
  const folder = "/etc/needrestart/conf.d";
  let machine: Sandbox;
  let packaged: string;
  before(function () {
    this.timeout(300_000);
    const file = join(unpacked("needrestart"), "etc/needrestart/needrestart.conf");
    packaged = readFileSync(file, "utf8");
    assert.ok(packaged.includes(`<${folder}/*.conf>`), "it reads what is in conf.d by itself");
  });
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
    // As in the image, the folder has no file that ends in .conf.
    machine.put(join(folder, "README.needrestart"));
  });
  afterEach(() => {
    machine.close();
  });
  const configure = (exclusions: readonly string[]): void => {
    const first = "$nrconf{override_rc} = {\n";
    assert.ok(packaged.includes(first));
    const rules = exclusions.map((one) => `    qr(${one}) => 0,\n`).join("");
    machine.put(
      "etc/needrestart/needrestart.conf",
      packaged
        .replace(first, () => `${first}${rules}`)
        .replaceAll(folder, join(machine.root, folder)),
    );
  };
  const restarts = (...services: readonly string[]): string[] => {
    const file = join(machine.root, "etc/needrestart/needrestart.conf");
    const read = execFileSync("perl", ["-e", decision, file, ...services], { stdio: "pipe" });
    return read.toString().split("\n").filter(Boolean);
  };
  const names = ["containerd", "kubelet", "keepalived", "systemd-networkd", "stackadm-init"];
  const ours = names.map((name) => `${name}.service`);

  for (const [whose, exclusions] of [
    ["needrestart 3.6", []],
    ["Ubuntu 26.04", needrestartExclusions],
  ] as const) {
    it(`restarts nothing that pods or addresses need, by the rules of ${whose} and the program`, () => {
      configure(exclusions);
      const without = ours.filter((one) => !exclusions.some((rule) => new RegExp(rule).test(one)));
      assert.deepEqual(restarts(...ours), without, "without ours it would");
      assert.equal(machine.run(preparationScripts, workerValues()).code, 0);
      assert.deepEqual(restarts(...ours), []);
    });

    it(`applies the rules of ${whose} to all other services`, () => {
      configure(exclusions);
      const others = ["dbus", "systemd-logind", "docker", "cron", "ssh", "multipathd"].map(
        (name) => `${name}.service`,
      );
      const before = restarts(...others);
      assert.equal(machine.run(preparationScripts, workerValues()).code, 0);
      assert.deepEqual(restarts(...others), before);
      assert.deepEqual(before, ["cron.service", "ssh.service", "multipathd.service"]);
    });
  }
});

describe("unattended-upgrades on an Ubuntu machine", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
    const files = { ...aptSettings, ...firstBootFiles("etc/apt/apt.conf.d") };
    for (const [name, text] of Object.entries(files))
      machine.put(`etc/apt/apt.conf.d/${name}`, text);
  });
  afterEach(() => {
    machine.close();
  });
  /** Returns the settings that this machine's apt reads from that folder only. */
  const settings = (): readonly string[] => {
    return execFileSync("apt-config", ["dump"], {
      env: { PATH: process.env["PATH"], APT_CONFIG: aptConfiguration(machine) },
    })
      .toString()
      .split("\n");
  };

  it("starts after the preparation, from Ubuntu's own origins only, and never reboots the machine", () => {
    assert.ok(settings().includes('APT::Periodic::Enable "0";'), settings().join("\n"));
    assert.equal(machine.run(preparationScripts, workerValues()).code, 0);
    const now = settings();
    for (const line of [
      ...['APT::Periodic::Enable "1";', 'APT::Periodic::Unattended-Upgrade "1";'],
      ...[
        'APT::Periodic::Update-Package-Lists "1";',
        'Unattended-Upgrade::Automatic-Reboot "false";',
      ],
    ])
      assert.ok(now.includes(line), `${line} in ${now.join("\n")}`);
    assert.deepEqual(
      now.filter((line) => /^Unattended-Upgrade::(Allowed-Origins|Origins-Pattern):: /.test(line)),
      upgradedOrigins.map((one) => `Unattended-Upgrade::Allowed-Origins:: "${one}";`),
    );
  });

  it("is disabled if the user does not want security updates, although the image enables updates", () => {
    const { code, stderr } = machine.run(
      preparationScripts,
      workerValues({ securityUpdates: false }),
    );
    assert.equal(code, 0, stderr);
    assert.match(machine.file("etc/apt/apt.conf.d/99stackadm-updates") ?? "", /Enable "0"/);
    assert.ok(settings().includes('APT::Periodic::Enable "0";'));
  });
});

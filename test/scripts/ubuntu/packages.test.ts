import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { prepareScripts } from "../../../components/machine/preparation.js";
import { answering, freshDebian, workerValues } from "../../support/fresh-debian.js";
import { Sandbox, type Outcome } from "../../support/sandbox.js";
import { osRelease, ubuntuReleases, type UbuntuRelease } from "../../support/ubuntu.js";
import { unpacked } from "../../support/unpacked.js";
import { firstBootFiles } from "../../support/first-boot-files.js";

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

describe("the packages of an Ubuntu machine", () => {
  let machine: Sandbox;
  const run = (): Outcome => machine.run(prepareScripts, workerValues());
  const installed = ({ calls }: Outcome): string =>
    calls.find((call) => / install .*kubeadm=/.test(call) && !call.includes("--download-only")) ??
    "";
  afterEach(() => {
    machine.close();
  });

  for (const release of ubuntuReleases)
    it(`are containerd of ${release.codename} itself, and of Docker's pool for ${release.version} where that is too old`, () => {
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
});

describe("what an Ubuntu machine does after each installation", () => {
  /** Prints the services that needrestart would restart. The first rule that it finds decides. */
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
  let machine: Sandbox;
  let needrestart: string;
  before(function () {
    this.timeout(300_000);
    needrestart = unpacked("needrestart");
  });
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
    const packaged = readFileSync(join(needrestart, "etc/needrestart/needrestart.conf"), "utf8");
    const folder = "/etc/needrestart/conf.d";
    assert.ok(packaged.includes(`<${folder}/*.conf>`), "it reads what is in conf.d by itself");
    // Setting of Ubuntu's server images: restart without a question.
    machine.put("etc/needrestart/conf.d/40-image.conf", "$nrconf{restart} = 'a';\n");
    machine.put(
      "etc/needrestart/needrestart.conf",
      packaged.replaceAll(folder, join(machine.root, folder)),
    );
  });
  afterEach(() => {
    machine.close();
  });
  const restarts = (...services: readonly string[]): string[] => {
    const file = join(machine.root, "etc/needrestart/needrestart.conf");
    const read = execFileSync("perl", ["-e", decision, file, ...services], { stdio: "pipe" });
    return read.toString().split("\n").filter(Boolean);
  };
  const names = ["containerd", "kubelet", "keepalived", "systemd-networkd", "stackadm-init"];
  const ours = names.map((name) => `${name}.service`);

  it("restarts nothing that pods or addresses need, by needrestart's own configuration and ours", () => {
    assert.deepEqual(restarts(...ours), ours, "without ours it would");
    assert.equal(machine.run(prepareScripts, workerValues()).code, 0);
    assert.deepEqual(restarts(...ours), []);
  });

  it("leaves all other services to needrestart's own rules", () => {
    const others = ["dbus.service", "systemd-logind.service", "docker.service", "cron.service"];
    const before = restarts(...others, "ssh.service", "multipathd.service");
    assert.equal(machine.run(prepareScripts, workerValues()).code, 0);
    assert.deepEqual(restarts(...others, "ssh.service", "multipathd.service"), before);
    assert.deepEqual(before, ["cron.service", "ssh.service", "multipathd.service"]);
  });
});

describe("the security updates of an Ubuntu machine, as apt reads their settings", () => {
  let machine: Sandbox;
  const origins = ["${distro_id}:${distro_codename}", "${distro_id}:${distro_codename}-security"];
  /** Settings of the packages in the image. */
  const images: Readonly<Record<string, string>> = {
    "20apt-esm-hook.conf": 'APT::Update::Post-Invoke-Stats { "true"; };\n',
    "20auto-upgrades":
      'APT::Periodic::Update-Package-Lists "1";\nAPT::Periodic::Unattended-Upgrade "1";\n',
    "50unattended-upgrades": `Unattended-Upgrade::Allowed-Origins {\n${origins.map((one) => `\t"${one}";\n`).join("")}};\nUnattended-Upgrade::DevRelease "auto";\nUnattended-Upgrade::Automatic-Reboot "true";\n`,
    "99needrestart": 'DPkg::Post-Invoke {"true"; };\n',
  };
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
    const files = { ...images, ...firstBootFiles("etc/apt/apt.conf.d") };
    for (const [name, text] of Object.entries(files))
      machine.put(`etc/apt/apt.conf.d/${name}`, text);
  });
  afterEach(() => {
    machine.close();
  });
  /** Returns the settings that this machine's apt reads from that folder only. */
  const settings = (): readonly string[] => {
    const parts = join(machine.root, "etc/apt/apt.conf.d");
    const bare = join(machine.root, "apt.conf");
    mkdirSync(join(machine.root, "none"), { recursive: true });
    machine.put("apt.conf", `Dir::Etc::parts "${parts}";\nDir::Etc::main "/dev/null";\n`);
    return execFileSync("apt-config", ["dump"], {
      env: { PATH: process.env["PATH"], APT_CONFIG: bare },
    })
      .toString()
      .split("\n");
  };

  it("wait until the machine is prepared, then begin, of Ubuntu's own origins alone, and reboot nothing", () => {
    assert.ok(settings().includes('APT::Periodic::Enable "0";'), settings().join("\n"));
    assert.equal(machine.run(prepareScripts, workerValues()).code, 0);
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
      origins.map((one) => `Unattended-Upgrade::Allowed-Origins:: "${one}";`),
    );
  });

  it("end where they are not wanted, though the image turns them on", () => {
    const { code, stderr } = machine.run(prepareScripts, workerValues({ securityUpdates: false }));
    assert.equal(code, 0, stderr);
    assert.match(machine.file("etc/apt/apt.conf.d/99stackadm-updates") ?? "", /Enable "0"/);
    assert.ok(settings().includes('APT::Periodic::Enable "0";'));
  });
});

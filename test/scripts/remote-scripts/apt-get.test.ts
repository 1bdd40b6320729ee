import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Sandbox, type Outcome } from "../../support/machine/sandbox.js";

const scripts = ["common.sh", "apt-get.sh"].map((name) =>
  readFileSync(join(__dirname, "../../../components/remote-scripts/scripts", name), "utf8"),
);

describe("apt-get.sh", () => {
  let machine: Sandbox;
  const run = (command: string): Outcome =>
    machine.run([...scripts, `step() { ${command}; }`, "run_step apt step"], {});
  const asked = ({ calls }: Outcome): string[] =>
    calls
      .filter((call) => !call.startsWith("hostname"))
      .map((call) => call.replace(/ -.*? (?=(update|install)\b)/, " "));
  beforeEach(() => {
    machine = new Sandbox({ hostname: "echo machine", dpkg: "exit 0", "apt-get": "exit 0" });
  });
  afterEach(() => {
    machine.close();
  });

  it("completes an interrupted dpkg run first, without a prompt", () => {
    // apt refuses to work until the interrupted run is configured.
    machine.put("interrupted");
    machine.stub("dpkg", "rm -f $root/interrupted");
    machine.stub("apt-get", '[ ! -e $root/interrupted ] || { echo "E: interrupted"; exit 100; }');
    const done = run("apt_install curl");
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(asked(done), [
      ...["dpkg --force-confold --configure -a", "apt-get install --download-only curl"],
      "apt-get install curl",
    ]);
  });

  it("installs nothing if the download fails, and updates the lists before the retry", () => {
    machine.stub("apt-get", 'case "$*" in *--download-only*) exit 100 ;; esac');
    const done = run("apt_install curl || exit 7");
    assert.equal(done.code, 7);
    assert.deepEqual(
      asked(done).filter((call) => call.startsWith("apt-get")),
      [
        ...["apt-get install --download-only curl", "apt-get update"],
        "apt-get install --download-only curl",
      ],
    );
  });

  it("allows dpkg more time than a download, which may be interrupted", () => {
    const { stderr } = run('timeout() { say "$1"; }; apt_update; apt_install curl');
    assert.deepEqual(stderr.match(/^\d+$/gm), ["600", "1800", "900", "1800"]);
  });

  for (const broken of [
    "E: LZ4F: /var/lib/apt/lists/x_Packages.lz4 Read error (ERROR_frameType_unknown)\nE: The package lists or status file could not be parsed or opened.",
    "E: LZ4F: /var/lib/apt/lists/x_Packages.lz4 Read error (ERROR_GENERIC)\nW: You may want to run apt-get update to correct these problems\nE: The package cache file is corrupted",
  ])
    it(`deletes lists that a power failure corrupted: ${broken.split("\n").at(-1) ?? ""}`, () => {
      machine.put("var/lib/apt/lists/x_Packages.lz4", "half");
      machine.put("var/cache/apt/pkgcache.bin", "of it");
      // Like apt 2.6, whose update fails on the list that it would replace.
      machine.stub(
        "apt-get",
        `[ ! -e /var/lib/apt/lists/x_Packages.lz4 ] || { cat <<'SAID'\n${broken}\nSAID\nexit 100; }`,
      );
      const done = run("apt_update");
      assert.equal(done.code, 0, done.stderr);
      assert.equal(machine.file("var/cache/apt/pkgcache.bin"), undefined);
      assert.deepEqual(asked(done), ["apt-get update", "apt-get update"]);
      const whole = run(`printf '%s\\n' "${broken}"; apt_update`);
      assert.deepEqual(asked(whole), ["apt-get update"], "nothing is deleted without a failure");
    });

  it("deletes corrupted lists only once", () => {
    const broken = "E: The package lists or status file could not be parsed or opened.";
    machine.stub("apt-get", `echo "${broken}"; exit 100`);
    const done = run('apt_update || die "no lists$(print_tool_error apt)"');
    assert.equal(asked(done).length, 2);
    assert.match(done.stderr, /\nreason: no lists: The package lists or status file could not be /);
  });

  const locked =
    'echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)"; echo "N: Be aware"; echo "E: Unable to lock directory /var/lib/apt/lists/"; exit 100';

  it("waits while another process locks the lists", () => {
    machine.stub(
      "apt-get",
      `echo x >>$root/tries; [ $(wc -l <$root/tries) -gt 20 ] || { ${locked}; }`,
    );
    machine.stub("wc", 'exec /usr/bin/wc "$@"');
    assert.equal(run("apt_update").code, 0);
  });

  it("stops waiting after 120 retries, and reports the lock", () => {
    machine.stub("apt-get", locked);
    const done = run('apt_update || die "no lists$(print_tool_error apt)"');
    assert.match(done.stderr, /\nreason: no lists: Unable to lock directory \/.*\n$/);
    assert.equal(done.calls.filter((call) => call.startsWith("apt-get")).length, 121);
  });

  it("does not retry after an error that time cannot fix", () => {
    machine.stub("apt-get", 'echo "E: The repository is not signed."; exit 100');
    const done = run("apt_update || exit 7");
    assert.equal(done.code, 7);
    assert.equal(asked(done).length, 1);
  });
});

import { strict as assert } from "node:assert";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { preparationScripts } from "../../../../components/machine/preparation.js";
import { freshDebian, workerValues } from "../../../support/machine/fresh-debian.js";
import { Sandbox, type Outcome } from "../../../support/machine/sandbox.js";

const run = (machine: Sandbox, over: Record<string, string> = {}): Outcome =>
  machine.run(preparationScripts, { ...workerValues(), ...over });
const reason = ({ stderr }: Outcome): string => /\nreason: (.*)\n$/.exec(stderr)?.[1] ?? "";

describe("the timeout factor of check-host.sh", () => {
  let machine: Sandbox;
  const factor = (): string | undefined => machine.file("var/lib/stackadm/timeout-factor");
  const takes = (milliseconds: string): void => {
    machine.stub("python3", `echo measured >>$root/measured; echo ${milliseconds}`);
  };
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
  });
  afterEach(() => {
    machine.close();
  });

  for (const [milliseconds, asked, wanted] of [
    ["12", "1", "1"],
    ["99", "1", "1"],
    ["165", "1", "2"],
    ["165", "4", "4"],
    ["420", "4", "5"],
    ["9000", "1", "5"],
    ["", "3", "3"],
    ["no such thing", "1", "1"],
  ] as const)
    it(`is ${wanted} for a measurement of ${milliseconds || "no"} ms and a timeoutFactor of ${asked}`, () => {
      takes(milliseconds);
      const { code, stderr } = run(machine, { TIMEOUT_FACTOR: asked });
      assert.equal(code, 0, stderr);
      assert.equal(factor(), `${wanted}\n`);
      const note = `note: machine is slow (measured factor ${wanted}): its own time limits are ${wanted} times as long, but leases, probes and flags of Kubernetes follow only timeoutFactor, which is ${asked}; write timeoutFactor: ${wanted}\n`;
      assert.equal(stderr.includes(note), wanted > asked, stderr);
    });

  it("causes a note in each run until timeoutFactor reaches the measured factor", () => {
    const warns = (outcome: Outcome): boolean => outcome.stderr.includes("note: machine is slow");
    takes("165");
    const factors = ["1", "1", "2", "1"];
    assert.deepEqual(
      factors.map((asked) => warns(run(machine, { TIMEOUT_FACTOR: asked }))),
      [true, true, false, true],
    );
  });

  it("is measured once, never on a machine in service, and follows a larger timeoutFactor at once", () => {
    takes("165");
    run(machine);
    run(machine, { TIMEOUT_FACTOR: "7" });
    assert.equal(factor(), "7\n");
    assert.equal(machine.file("measured"), "measured\n");
    run(machine);
    assert.equal(factor(), "2\n");
    machine.close();
    machine = new Sandbox(freshDebian);
    takes("165");
    machine.put("var/lib/stackadm/join.done");
    run(machine);
    assert.deepEqual([factor(), machine.file("measured")], ["1\n", undefined]);
  });

  it("restarts nothing if timeoutFactor changes", () => {
    run(machine);
    const changed = (outcome: Outcome): string[] =>
      outcome.calls.filter((call) => /^(systemctl (re)?start |apt-get |modprobe )/.test(call));
    const same = changed(run(machine));
    assert.deepEqual(changed(run(machine, { TIMEOUT_FACTOR: "3" })), same);
    assert.ok(!same.some((call) => call.includes("restart")), same.join("\n"));
  });
});

describe("the preparation of a machine that reboots meanwhile", () => {
  it("succeeds in the next run after the interruption of any command", () => {
    const whole = new Sandbox(freshDebian);
    const { calls, stdout } = run(whole);
    // Commands that change the machine, and may be interrupted.
    const steps = ["apt-get", "systemctl", "iptables", "apt-mark"];
    const moments = steps.filter((step) => calls.some((call) => call.startsWith(`${step} `)));
    assert.deepEqual(moments, steps);
    for (const moment of moments) {
      const machine = new Sandbox(freshDebian);
      const body = machine.bodyOf(moment);
      machine.stub(moment, "kill -9 $$");
      assert.notEqual(run(machine).code, 0, moment);
      // /run is empty after a reboot.
      rmSync(join(machine.root, "run"), { recursive: true, force: true });
      machine.stub(moment, body);
      const again = run(machine);
      assert.equal(again.code, 0, `${moment}: ${again.stderr}`);
      assert.equal(again.stdout, stdout, moment);
      for (const file of ["etc/sysctl.d/90-stackadm.conf", "etc/containerd/config.toml"])
        assert.equal(machine.file(file), whole.file(file), `${moment}: ${file}`);
      machine.close();
    }
    whole.close();
  }).timeout(180_000);
});

describe("the clock check of check-host.sh", () => {
  const now = "Fri, 27 Nov 2026 18:00:00 GMT";
  /**
   * Stubs the clocks: the server's time is 18:00:00, the machine's is `off` seconds ahead until it
   * is set.
   */
  const clock = (machine: Sandbox, off: number, set = "no", age = ""): void => {
    machine.stub(
      "curl",
      `case "$*" in *--head*) printf 'HTTP/2 302\\r\\nDate: ${now}\\r\\n${age}\\r\\n'; exit ;; esac; ${freshDebian["curl"] ?? ""}`,
    );
    machine.stub(
      "date",
      `case "$*" in +%s) if [ -e $root/set ]; then echo 1000; else echo ${String(1000 + off)}; fi ;; "-d ${now} +%s") echo 1000 ;; *) exit 9 ;; esac`,
    );
    machine.stub("timedatectl", set);
  };
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
  });
  afterEach(() => {
    machine.close();
  });

  it("accepts a difference of up to 60 s without waiting", () => {
    for (const off of [0, 60, -60]) {
      clock(machine, off, "exit 9");
      const { code, stderr, calls } = run(machine);
      assert.equal(code, 0, stderr);
      assert.ok(!calls.some((call) => call.startsWith("timedatectl")));
      assert.doesNotMatch(stderr, /clock/);
    }
  });

  for (const [off, word] of [
    [-240, "behind"],
    [61, "ahead"],
  ] as const)
    it(`fails before the installation if the clock is ${word} and no time service sets the clock`, () => {
      clock(machine, off, "echo no");
      const outcome = run(machine);
      assert.equal(outcome.code, 1);
      assert.equal(
        reason(outcome),
        `the clock of machine is ${String(Math.abs(off))} s ${word}, and no time service has set it: every certificate would be refused; let the machine reach a time server (UDP port 123), or have cloudInit name one that it reaches (\`ntp: {servers: [...]}\`) and raise the generation of the machine; then run up again`,
      );
      assert.ok(!outcome.calls.some((call) => /^apt-get .* install /.test(call)));
    });

  it("adds the age of a cache's answer to the server's time", () => {
    clock(machine, 7500, "exit 9", "Age: 07500\\r\\n");
    const { code, stderr } = run(machine);
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /clock/);
  });

  it("requests the time without the password or token of an address", () => {
    clock(machine, 600, "echo yes");
    const PACKAGES_URL = "https://me:CANARY@mirror.example:8443/CANARY/deb/";
    const { calls, stderr } = run(machine, { PACKAGES_URL });
    const [asked = ""] = calls.filter((call) => call.includes(" --head "));
    assert.match(asked, / https:\/\/mirror\.example:8443\/$/);
    assert.match(stderr, /600 s ahead of https:\/\/mirror\.example:8443\//);
    assert.doesNotMatch(stderr.replaceAll("/CANARY/", ""), /CANARY/);
  });

  it("runs again in the next run if no server answered", () => {
    clock(machine, 600, "echo no");
    machine.stub("curl", `case "$*" in *--head*) exit 7 ;; esac; ${freshDebian["curl"] ?? ""}`);
    assert.equal(run(machine).code, 0);
    assert.equal(machine.file("var/lib/stackadm/clock-compared"), undefined);
  });

  it("waits until the time service has set a wrong clock", () => {
    clock(machine, -3600, "[ -e $root/asked ] && touch $root/set && echo yes; touch $root/asked");
    const { code, stderr } = run(machine);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /\nmachine: its clock is wrong by 3600 s; waiting until it is set\n/);
  });

  it("accepts a clock that a time service has set, with a note about the server's time", () => {
    clock(machine, 600, "echo yes");
    const { code, stderr } = run(machine);
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /\nnote: the clock of machine is set by its time service, but 600 s ahead of https:\/\/pkgs/,
    );
  });

  it("is skipped if the server does not return the time, and on a machine in service", () => {
    clock(machine, 600, "echo no");
    machine.stub("curl", `case "$*" in *--head*) exit 7 ;; esac; ${freshDebian["curl"] ?? ""}`);
    assert.equal(run(machine).code, 0);
    clock(machine, 600, "echo no");
    machine.put("var/lib/stackadm/join.done");
    assert.equal(run(machine).code, 0);
  });
});

describe("the disk check of check-host.sh", () => {
  let machine: Sandbox;
  const free = (root: number, images = root, place = "/"): void => {
    machine.stub(
      "df",
      `case "$*" in *containerd*) echo Avail; echo "${String(images)} ${place}" ;; *) echo Avail; echo "${String(root)} /" ;; esac`,
    );
    machine.put("var/lib/containerd/here");
  };
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
  });
  afterEach(() => {
    machine.close();
  });

  it("accepts enough space on one file system or on two", () => {
    free(1536);
    assert.equal(run(machine).code, 0);
    machine.close();
    machine = new Sandbox(freshDebian);
    free(512, 1024, "/var/lib/containerd");
    assert.equal(run(machine).code, 0);
  });

  for (const [what, sizes, sentence] of [
    [
      "the only",
      [1535],
      "1535 MiB free at /, and its packages and images need 1536; choose a flavor with a larger disk, or write rootVolume.size",
    ],
    [
      "the root",
      [511, 9000, "/var/lib/containerd"],
      "511 MiB free at /, and its packages need 512; choose a flavor with a larger disk, or write rootVolume.size",
    ],
    [
      "containerd's",
      [9000, 1023, "/var/lib/containerd"],
      "1023 MiB free at /var/lib/containerd, and its images need 1024; choose a flavor with a larger disk, or write runtimeVolume.size",
    ],
  ] as const)
    it(`fails before the installation if ${what} file system has too little space`, () => {
      const [root, images, place] = sizes;
      free(root, images, place);
      const outcome = run(machine);
      assert.equal(outcome.code, 1);
      assert.equal(
        reason(outcome).replace(machine.root, ""),
        `[INVALID_CONFIG] machine has ${sentence}, and raise the generation of the machine to have it created again`,
      );
      assert.ok(!outcome.calls.some((call) => call.startsWith("apt-get")));
    });

  it("is skipped on a machine in service", () => {
    free(10);
    machine.put("var/lib/stackadm/join.done");
    assert.equal(run(machine).code, 0);
  });
});

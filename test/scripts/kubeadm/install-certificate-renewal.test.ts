import { strict as assert } from "node:assert";
import { controlPlaneMachine, runControlPlane } from "../../support/machine/control-plane.js";
import type { Sandbox } from "../../support/machine/sandbox.js";

describe("certificate renewal on a control plane", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = controlPlaneMachine();
  });
  afterEach(() => {
    machine.close();
  });
  const unit = (name: string): string =>
    machine.file(`etc/systemd/system/stackadm-certificates${name}`) ?? "";

  it("installs an hourly timer that waits for running steps, and a boot unit that precedes kubelet", () => {
    const { code, stderr, calls } = runControlPlane(machine);
    assert.equal(code, 0, stderr);
    assert.match(unit(".timer"), /^OnCalendar=\*-\*-\* \*:12:00$/m);
    const program = `${machine.root}/usr/local/sbin/stackadm-certificates`;
    assert.ok(
      unit(".service").includes(
        `ExecStart=/usr/bin/flock --wait 600 ${machine.root}/run/stackadm/lock ${program} renew\n`,
      ),
    );
    assert.match(unit("-back.service"), /^Before=kubelet\.service$/m);
    assert.ok(unit("-back.service").includes(`ExecStart=${program} back\n`));
    for (const call of [
      "enable --now stackadm-certificates.timer",
      "enable stackadm-certificates-back.service",
    ])
      assert.ok(calls.includes(`systemctl ${call}`), call);
  });

  it("renews certificates in an `up` before the first API request", () => {
    runControlPlane(machine);
    const { calls } = runControlPlane(machine, {}, "update");
    const [renewed, asked] = [
      calls.indexOf("kubectl renewed renew"),
      calls.findIndex((call) => call.includes("/readyz")),
    ];
    assert.ok(renewed >= 0 && renewed < asked, calls.join("\n"));
  });

  it("starts the renewal in the background on a new cluster", () => {
    const { calls } = runControlPlane(machine);
    assert.ok(calls.includes("systemctl start --no-block stackadm-certificates.service"));
    assert.ok(!calls.includes("kubectl renewed renew"));
  });

  it("succeeds with a warning if the renewal fails", () => {
    const RENEW_SCRIPT = "#!/bin/bash\nexit 1\n";
    runControlPlane(machine);
    const { code, stderr } = runControlPlane(machine, { RENEW_SCRIPT }, "update");
    assert.equal(code, 0, stderr);
    assert.match(stderr, /were not renewed this time; a timer tries again/);
  });
});

import { strict as assert } from "node:assert";
import { controlPlaneMachine, runControlPlane } from "../../support/machine/control-plane.js";
import type { Sandbox } from "../../support/machine/sandbox.js";

describe("a control plane that looks after its certificates", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = controlPlaneMachine();
  });
  afterEach(() => {
    machine.close();
  });
  const unit = (name: string): string =>
    machine.file(`etc/systemd/system/stackadm-certificates${name}`) ?? "";

  it("does so every hour at a minute of its own, while no step is at work, and after a boot before kubelet", () => {
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

  it("does so in an `up`, before the API is asked for anything: it may have ended with them", () => {
    runControlPlane(machine);
    const { calls } = runControlPlane(machine, {}, "update");
    const [renewed, asked] = [
      calls.indexOf("kubectl renewed renew"),
      calls.findIndex((call) => call.includes("/readyz")),
    ];
    assert.ok(renewed >= 0 && renewed < asked, calls.join("\n"));
  });

  it("lets the unit look when a cluster has just begun: nobody waits for that", () => {
    const { calls } = runControlPlane(machine);
    assert.ok(calls.includes("systemctl start --no-block stackadm-certificates.service"));
    assert.ok(!calls.includes("kubectl renewed renew"));
  });

  it("comes to its end where that does not work now, and says so", () => {
    const RENEW_SCRIPT = "#!/bin/bash\nexit 1\n";
    runControlPlane(machine);
    const { code, stderr } = runControlPlane(machine, { RENEW_SCRIPT }, "update");
    assert.equal(code, 0, stderr);
    assert.match(stderr, /were not renewed this time; a timer tries again/);
  });
});

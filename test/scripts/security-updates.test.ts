import assert from "node:assert/strict";
import { join } from "node:path";
import { prepareScripts } from "../../components/machine/preparation.js";
import { freshDebian, workerValues } from "../support/fresh-debian.js";
import { Sandbox } from "../support/sandbox.js";

const file = "etc/apt/apt.conf.d/99stackadm";
const off = 'APT::Periodic::Enable "0";\n';

describe("the distribution's security updates", () => {
  let machine: Sandbox;
  const run = (wanted: boolean) =>
    machine.run(prepareScripts, workerValues({ securityUpdates: wanted }));
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
    // As user data leave it.
    machine.put(file, off);
  });
  afterEach(() => {
    machine.close();
  });

  it("begin when the machine is prepared, so that they hold no package lock before, and reboot nothing", () => {
    machine.stub("crictl", `cat ${join(machine.root, file)} >>$root/meanwhile`);
    run(true);
    assert.match(machine.file("meanwhile") ?? "", /^(APT::Periodic::Enable "0";\n)+$/);
    assert.match(
      machine.file(file) ?? "",
      /^APT::Periodic::Enable "1";\n[^]+Unattended-Upgrade "1";\n[^]+Automatic-Reboot "false";\n$/,
    );
  });

  it("end where they are not wanted any more", () => {
    run(true);
    assert.equal(run(false).code, 0);
    assert.ok(machine.file(file)?.startsWith(off));
  });

  it("are said to be missing where the image has nothing that installs them", () => {
    const missing = "machine: the image has no unattended-upgrades";
    assert.ok(run(true).stderr.includes(missing));
    assert.ok(!run(false).stderr.includes(missing));
    machine.stub("unattended-upgrade", "exit 0");
    assert.ok(!run(true).stderr.includes(missing));
  });
});

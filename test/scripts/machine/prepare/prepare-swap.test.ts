import { strict as assert } from "node:assert";
import { preparationScripts } from "../../../../components/machine/preparation.js";
import { freshDebian, workerValues } from "../../../support/machine/fresh-debian.js";
import { Sandbox } from "../../../support/machine/sandbox.js";

describe("the swap settings of prepare.sh", () => {
  let machine: Sandbox;
  const run = () => machine.run(preparationScripts, workerValues());
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
  });
  afterEach(() => {
    machine.close();
  });

  it("disables swap permanently, and keeps the other lines of fstab byte for byte", () => {
    const fstab = [
      "# /dev/sdz none swap sw 0 0",
      "UUID=1\t/ ext4  defaults 0 1",
      "UUID=2 none\tswap sw 0 0",
      "  /swapfile none swap defaults",
      "/dev/sdb /swap ext4 defaults 0 0",
      "tmpfs /tmp tmpfs size=1G 0 0",
    ].join("\n");
    machine.put("etc/fstab", fstab);
    machine.stub(
      "systemctl",
      'case "$*" in *ActiveState*) echo inactive ;; *--type=swap*--state=active*) echo "dev-disk-by\\\\x2duuid-2.swap loaded active active Swap" ;; esac',
    );
    const { calls } = run();
    const expected = fstab.replace("UUID=2", "# UUID=2").replace("  /swapfile", "#   /swapfile");
    assert.equal(machine.file("etc/fstab"), expected);
    assert.ok(calls.includes("systemctl mask dev-disk-by\\x2duuid-2.swap"));
    run();
    assert.equal(machine.file("etc/fstab"), expected);
  });

  it("changes nothing if the machine has no swap", () => {
    assert.ok(!run().calls.some((call) => call.startsWith("systemctl mask")));
    assert.equal(machine.file("etc/fstab"), undefined);
  });
});

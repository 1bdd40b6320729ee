import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hostScripts } from "../../../components/machine/preparation.js";
import { Sandbox } from "../../support/machine/sandbox.js";

const common = join(__dirname, "../../../components/remote-scripts/scripts/common.sh");
const scripts = [
  readFileSync(common, "utf8"),
  ...hostScripts,
  "run_step channels limit_silent_channels\n",
];
const file = "etc/ssh/sshd_config.d/20-stackadm.conf";
const setting = "ChannelTimeout direct-tcpip=6m\n";
const reload = "systemctl try-reload-or-restart ssh";

describe("silent-channels.sh", () => {
  let machine: Sandbox;
  afterEach(() => {
    machine.close();
  });
  const runWith = (sshd: string, systemctl = "exit 0") => {
    machine = new Sandbox({ hostname: "echo machine", sshd, systemctl });
    return machine.run(scripts, {});
  };
  const known = '[[ "$*" == "-T -o ChannelTimeout=direct-tcpip=6m" ]]';

  it("makes sshd close silent connections, and reloads sshd only for a change", () => {
    const { code, stderr, calls } = runWith(known);
    assert.equal(code, 0, stderr);
    assert.equal(machine.file(file), setting);
    assert.ok(calls.includes(reload), calls.join("\n"));
    assert.ok(!machine.run(scripts, {}).calls.includes(reload));
  });

  it("leaves an sshd unchanged that does not know the setting", () => {
    const { code, stderr, calls } = runWith("exit 255");
    assert.equal(code, 0, stderr);
    assert.equal(machine.file(file), undefined);
    assert.ok(!calls.includes(reload), calls.join("\n"));
  });

  it("fails if sshd does not reload", () => {
    const { code, stderr } = runWith(known, "exit 1");
    assert.equal(code, 1);
    assert.match(stderr, /reason: sshd on machine did not read its settings again/);
    assert.equal(machine.file(file), undefined);
  });
});

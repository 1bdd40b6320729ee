import assert from "node:assert/strict";
import { Failure } from "../../../../../base/failures/failure.js";
import {
  checkCollisions,
  listNetworkRemains,
  setUpNetwork,
  tearDownNetwork,
} from "../../../host/set-up-network.js";
import { listFirewallCommands, listLinkCommands } from "../../../host/network-plan.js";
import { requiredKernelSettings } from "../../../host/kernel-settings.js";
import {
  busyAtFirst,
  hostStubs,
  ip,
  StubHost,
} from "../../../../../test/support/machine/stub-host.js";

let host: StubHost;
const useHost = (): void => {
  beforeEach(() => {
    host = new StubHost(hostStubs);
  });
  afterEach(() => {
    host.close();
  });
};

describe("checkCollisions", () => {
  useHost();
  const routes = (dst: string) =>
    JSON.stringify([
      { dst: "default", dev: "eth0" },
      { dst, dev: "tun0" },
    ]);

  it("accepts unused networks", async () => {
    host.stub("ip", `echo '${routes("203.0.113.0/24")}'`);
    await checkCollisions(host.settings, []);
  });

  it("refuses a network with an existing route, and names the settings that change the network", async () => {
    host.stub(
      "ip",
      `case "$*" in *route*) echo '${routes("192.0.0.0/16")}' ;; *) echo '[]' ;; esac`,
    );
    await assert.rejects(checkCollisions(host.settings, []), (error: unknown) => {
      assert.ok(error instanceof Failure);
      assert.match(error.message, /192\.0\.2\.0\/24 .* 192\.0\.0\.0\/16, route through tun0/);
      assert.match(error.hint, /STACKADM_LAB_MANAGEMENT=.* STACKADM_LAB_EXTERNAL=/);
      return true;
    });
  });

  it("refuses a network that contains the package mirrors", async () => {
    const inside = {
      ...host.settings,
      external: { ...host.settings.external, cidr: "127.0.0.0/24" },
    };
    host.stub("ip", "echo '[]'");
    await assert.rejects(checkCollisions(inside, ["localhost"]), /address of localhost/);
  });

  it("ignores a mirror whose name cannot be resolved, because apt reports the error", async () => {
    host.stub("ip", "echo '[]'");
    await checkCollisions(host.settings, ["no-such-host.invalid"]);
  });

  it("reports each collision once, in however many tables the route is", async () => {
    const twice = JSON.stringify([1, 2].map(() => ({ dst: "192.0.2.0/24", dev: "tun0" })));
    host.stub("ip", `case "$*" in *route*) echo '${twice}' ;; *) echo '[]' ;; esac`);
    await assert.rejects(
      checkCollisions(host.settings, []),
      (error: Error) => error.message.split("tun0").length === 2,
    );
  });
});

describe("setUpNetwork and tearDownNetwork", () => {
  useHost();

  it("raise kernel settings first, then create links and rules in order", async () => {
    await setUpNetwork(host.settings, host.paths);
    const planned = [...listLinkCommands(host.settings), ...listFirewallCommands(host.settings)];
    assert.deepEqual(
      host.calls(),
      planned.map((command) => command.join(" ")),
    );
    for (const [name, value] of Object.entries(requiredKernelSettings)) {
      assert.ok(Number(host.read(`sys/${name}`)) >= value, name);
    }
  });

  it("stop at the first failed command with its output", async () => {
    host.stub("ip", 'case "$*" in *addr*) echo "Permission denied" >&2; exit 2 ;; esac');
    await assert.rejects(setUpNetwork(host.settings, host.paths), /Permission denied/);
    assert.deepEqual(host.called("iptables"), []);
  });

  it("delete exactly the rules with the lab's name and restore the kernel settings", async () => {
    const before = host.read("sys/fs/inotify/max_user_instances");
    await setUpNetwork(host.settings, host.paths);
    const { name } = host.settings;
    host.stub(
      "iptables",
      `case "$*" in
        "-w -t nat -S") echo '-A POSTROUTING -s 192.0.2.0/24 -m comment --comment ${name} -j MASQUERADE'
                        echo '-A POSTROUTING -s 10.88.0.0/16 -j MASQUERADE' ;;
        "-w -t filter -S") echo '-A FORWARD -i x -m comment --comment "${name}" -j ACCEPT' ;;
      esac`,
    );
    host.calls();
    await tearDownNetwork(host.settings, host.paths);
    assert.deepEqual(
      host.called("iptables").filter((call) => call.includes(" -D ")),
      [
        `iptables -w -t nat -D POSTROUTING -s 192.0.2.0/24 -m comment --comment ${name} -j MASQUERADE`,
        `iptables -w -t filter -D FORWARD -i x -m comment --comment ${name} -j ACCEPT`,
      ],
    );
    assert.equal(Number(host.read("sys/fs/inotify/max_user_instances")), Number(before));
  });

  it("wait until the kernel has released interfaces and namespace", async () => {
    await setUpNetwork(host.settings, host.paths);
    const made = Object.values(host.settings.devices).sort();
    assert.deepEqual((await listNetworkRemains(host.settings, host.paths)).sort(), [
      ...made.map((device) => `interface ${device}`),
      `network namespace ${host.settings.name}`,
    ]);
    host.stub("ip", `case $2 in del) ${busyAtFirst} ;; esac\n${ip}`);
    await tearDownNetwork(host.settings, host.paths);
    assert.deepEqual(await listNetworkRemains(host.settings, host.paths), []);
  });

  it("succeed if nothing was set up", async () => {
    await tearDownNetwork(host.settings, host.paths);
    assert.deepEqual(host.called("ip"), []);
  });

  it("treat an unreadable packet filter as one without the lab's rules", async () => {
    host.stub("iptables", "echo no such table >&2; exit 3");
    assert.deepEqual(await listNetworkRemains(host.settings, host.paths), []);
    await tearDownNetwork(host.settings, host.paths);
  });

  it("count the remaining rules", async () => {
    const rule = `-A FORWARD -i x -m comment --comment ${host.settings.name} -j ACCEPT`;
    host.stub("iptables", `case "$*" in *filter*) echo '${rule}'; echo '${rule}' ;; esac`);
    assert.deepEqual(await listNetworkRemains(host.settings, host.paths), ["2 iptables rules"]);
  });
});

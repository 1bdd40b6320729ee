import { strict as assert } from "node:assert";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseClusterSpec } from "../../../components/config/cluster-spec.js";
import {
  getPreparationValues,
  preparationScripts,
} from "../../../components/machine/preparation.js";
import { renderSecondInterfaceCommand } from "../../../components/machine/second-interface.js";
import { freshDebian } from "../../support/machine/fresh-debian.js";
import { Sandbox, type Outcome } from "../../support/machine/sandbox.js";
import { smallest } from "../../support/config/spec.js";

const second = {
  mac: "fa:16:3e:00:00:02",
  address: "10.9.0.5",
  range: "10.9.0.0/24",
  mtu: 1442,
  gateway: "10.9.0.1",
};
const links = `printf '%s\\n' '1: lo: <UP> link/loopback 00:00:00:00:00:00' '2: eth0: <UP> mtu 1450 link/ether fa:16:3e:00:00:01 brd x' '3: eth1@if7: <UP> mtu 1450 link/ether fa:16:3e:00:00:02 brd x'`;
const rendered = `auto lo
iface lo inet loopback

auto eth0
iface eth0 inet dhcp
    mtu 1450

auto eth1
iface eth1 inet dhcp
    mtu 1442
`;

const restart = "systemctl restart systemd-networkd";
/** Returns a stub of systemctl with these states of systemd-networkd. */
const states = (unit: string, now: string): string =>
  `case "$*" in is-enabled*) echo ${unit}; [ ${unit} = enabled ] ;; is-active*) [ ${now} = active ] ;; *ActiveState*) echo ${now} ;; esac`;

describe("second-interface.sh", () => {
  let machine: Sandbox;
  const run = (of: Parameters<typeof renderSecondInterfaceCommand>[0] = second): Outcome => {
    const [, , script = "", , ...args] = renderSecondInterfaceCommand(of);
    return machine.execute(script, ...args);
  };
  beforeEach(() => {
    // During cloud-init's network stage, D-Bus does not run yet.
    const networkctl = "echo 'Failed to connect system bus: No such file or directory' >&2; exit 1";
    machine = new Sandbox({ ip: `case "$*" in *link*) ${links} ;; esac`, networkctl });
    machine.stub("systemctl", states("enabled", "active"));
  });
  afterEach(() => {
    machine.close();
  });

  describe("with systemd-networkd", () => {
    const file = "etc/systemd/network/05-stackadm-admin.network";

    it("sets the interface's address, and adds routes for answers in a separate table", () => {
      const { code, stderr, calls } = run();
      assert.equal(code, 0, stderr);
      const text = machine.file(file) ?? "";
      for (const line of [
        ...["MACAddress=fa:16:3e:00:00:02", "Address=10.9.0.5/24", "AddPrefixRoute=no", "DHCP=no"],
        ...["From=10.9.0.5", "Gateway=10.9.0.1", "Destination=10.9.0.0/24", "MTUBytes=1442"],
      ])
        assert.ok(text.split("\n").includes(line), `${line} in ${text}`);
      // All routes and rules must be in this table, so that the main table gets no default route of
      // this interface.
      const sections = text.split(/^\[/m).filter((one) => /^Rout/.test(one));
      assert.equal(sections.length, 3);
      for (const one of sections) assert.match(one, /^Table=1022$/m);
      assert.doesNotMatch(text, /DNS=(?!no)/);
      assert.ok(calls.includes(restart));
    });

    it("flushes the address that DHCP set, since the address keeps a route in the main table", () => {
      const { calls } = run();
      const [flush, again] = ["ip address flush dev eth1", restart].map((one) =>
        calls.indexOf(one),
      );
      assert.ok(flush !== undefined && again !== undefined && flush >= 0 && flush < again);
    });

    it("changes nothing at the next boot", () => {
      run();
      const { code, calls } = run();
      assert.equal(code, 0);
      assert.ok(!calls.includes(restart) && !calls.includes("ip address flush dev eth1"));
    });

    it("restarts a starting systemd-networkd, and only writes the file for a stopped systemd-networkd", () => {
      machine.stub("systemctl", states("enabled", "activating"));
      const { code, stderr, calls } = run();
      assert.equal(code, 0, stderr);
      assert.ok(calls.includes(restart));
      rmSync(join(machine.root, file));
      machine.stub("systemctl", states("enabled", "inactive"));
      const later = run();
      assert.equal(later.code, 0, later.stderr);
      assert.ok(machine.file(file));
      assert.ok(!later.calls.includes(restart), "it may wait for what waits for cloud-init");
    });

    it("detects systemd-networkd by netplan if only netplan starts the service", () => {
      machine.stub("systemctl", states("disabled", "inactive"));
      machine.stub("netplan", "");
      const { code, stderr } = run();
      assert.equal(code, 0, stderr);
      assert.ok(machine.file(file));
    });

    it("adds only the subnet's route if the subnet has no gateway", () => {
      assert.equal(run({ ...second, gateway: undefined }).code, 0);
      const text = machine.file(file) ?? "";
      assert.doesNotMatch(text, /Gateway/);
      assert.match(text, /^Destination=10\.9\.0\.0\/24$/m);
    });
  });

  describe("with ifupdown", () => {
    const theirs = "etc/network/interfaces.d/50-cloud-init";
    beforeEach(() => {
      machine.stub("systemctl", states("disabled", "inactive"));
      for (const name of ["ifup", "ifdown"]) machine.stub(name, "");
      machine.put(theirs, rendered);
    });

    it("moves the interface from cloud-init's file to a separate file, and keeps other interfaces", () => {
      const { code, stderr } = run();
      assert.equal(code, 0, stderr);
      assert.equal(
        machine.file(theirs)?.trim(),
        rendered.slice(0, rendered.indexOf("auto eth1")).trim(),
      );
      const own = machine.file("etc/network/interfaces.d/60-stackadm-admin") ?? "";
      assert.match(own, /^iface eth1 inet manual$/m);
      assert.match(own, /^ {4}up ip address replace 10\.9\.0\.5\/24 dev eth1 noprefixroute$/m);
      assert.match(
        own,
        /^ {4}up ip route replace default via 10\.9\.0\.1 dev eth1 onlink table 1022$/m,
      );
      // In the main table, the route would become the machine's default route.
      for (const line of own.split("\n").filter((one) => / (route|rule) /.test(one)))
        assert.match(line, / table 1022( |$)/);
    });

    it("restarts the second interface once, and then the first interface with the default route", () => {
      const { calls } = run();
      const order = calls.filter((call) => /^if(up|down)/.test(call));
      assert.deepEqual(order, [
        ...["ifdown --force eth1", "ifup eth1", "ifdown --force eth0", "ifup eth0"],
      ]);
      assert.deepEqual(
        run().calls.filter((call) => /^if(up|down)/.test(call)),
        [],
      );
    });

    it("moves the interface again if cloud-init wrote the file again", () => {
      run();
      machine.put(theirs, rendered);
      const { code, calls } = run();
      assert.equal(code, 0);
      assert.doesNotMatch(machine.file(theirs) ?? "", /eth1/);
      assert.ok(calls.includes("ifup eth1"));
    });
  });

  it("fails if the interface does not exist or if another service configures interfaces", () => {
    assert.match(
      run({ ...second, mac: "fa:16:3e:00:00:09" }).stderr,
      /no interface has the address/,
    );
    machine.stub("systemctl", states("disabled", "inactive"));
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(stderr, /neither systemd-networkd nor ifupdown/);
  });
});

describe("the second interface check of prepare.sh", () => {
  const parsed = parseClusterSpec(smallest);
  assert.ok("spec" in parsed);
  const late = { VOLUMES: "", REGISTRY_AUTH: "", PROXY: "", CLOUD_AUTHORITY: "" };
  const values = { ...getPreparationValues(parsed.spec, "worker"), ...late };
  let machine: Sandbox;
  const run = (ADMIN_ADDRESS: string): Outcome =>
    machine.run(preparationScripts, { ...values, ADMIN_ADDRESS });
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
  });
  afterEach(() => {
    machine.close();
  });

  it("requires the second interface's address, and refuses a default route through the interface", () => {
    const address = "10.9.0.5";
    machine.stub("ip", 'case "$*" in *"to 10.9.0.5"*) echo "3: eth1 inet 10.9.0.5/24" ;; esac');
    assert.equal(run(address).code, 0);
    assert.match(
      run("10.9.0.6").stderr,
      /reason: machine does not have its address 10\.9\.0\.6 in network\.admin; choose an image/,
    );
    machine.stub(
      "ip",
      'case "$*" in *"to 10.9"*) echo "3: eth1 x" ;; *default*) echo default ;; esac',
    );
    assert.match(
      run(address).stderr,
      /reason: machine has a default route through .*, eth1; choose/,
    );
  });
});

import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  renderKeepalivedConfig,
  disabledVirtualIpValues,
  getReadyzUrl,
} from "../../components/endpoint/keepalived-documents.js";
import { Sandbox } from "../support/machine/sandbox.js";

const script = (path: string): string =>
  readFileSync(join(__dirname, "../../components", path), "utf8");

const address = "10.0.0.100";
const config = "etc/keepalived/keepalived.conf";
const values = (addresses: readonly string[], position = 0): Record<string, string> => ({
  ADDRESS: addresses[position] ?? "",
  VIRTUAL_IP: address,
  VIRTUAL_IP_CONFIG: renderKeepalivedConfig({ address, addresses, position }),
  VIRTUAL_IP_READY: getReadyzUrl(address),
});
const none = { ADDRESS: "10.0.0.11", ...disabledVirtualIpValues } as Record<string, string>;
const alone = values(["10.0.0.11"]);
const three = values(["10.0.0.11", "10.0.0.12", "10.0.0.13"]);

const stubs: Readonly<Record<string, string>> = {
  hostname: "echo machine",
  curl: "exit 7",
  systemctl: "exit 0",
  // The machine's own address, and the virtual IP if the test has created the file `here`.
  ip: [
    'case "$*" in',
    '  *"to 10.0.0.11"*) echo "2: eth0    inet 10.0.0.11/24 brd 10.0.0.255 scope global eth0" ;;',
    '  *"to 10.0.0.100"*) [ ! -e $root/here ] || echo "2: eth0    inet 10.0.0.100/32 scope global eth0" ;;',
    "esac",
  ].join("\n"),
};

describe("virtual-ip.sh", () => {
  let machine: Sandbox;
  const run = (of: Record<string, string>, body = "virtual_ip") =>
    machine.run(
      [
        ...[script("remote-scripts/scripts/common.sh"), script("endpoint/virtual-ip.sh")],
        `body() {\n${body}\n}\n`,
        "run_step test body",
      ],
      of,
    );
  const services = (calls: readonly string[]): readonly string[] =>
    calls.filter((call) => call.startsWith("systemctl "));
  beforeEach(() => {
    machine = new Sandbox(stubs);
  });
  afterEach(() => {
    machine.close();
  });

  it("configures the interface with the machine's address, without IPVS", () => {
    run(three);
    const written = machine.file(config) ?? "";
    assert.match(written, /^ {2}interface eth0$/m);
    assert.match(written, /^ {4}10\.0\.0\.100\/32 dev eth0$/m);
    assert.doesNotMatch(written, /@/);
    assert.equal(machine.file("etc/default/keepalived"), 'DAEMON_ARGS="--vrrp"\n');
  });

  it("fails with the address if no interface has the address", () => {
    const { code, stderr } = run(values(["10.0.0.99"]));
    assert.equal(code, 1);
    assert.match(stderr, /\nreason: no interface of machine has the address 10\.0\.0\.99\n$/);
    assert.equal(machine.file(config), undefined);
  });

  it("restarts keepalived in the first run only", () => {
    const first = services(run(alone).calls);
    assert.deepEqual(first, ["systemctl enable keepalived", "systemctl restart keepalived"]);
    const { calls } = run(alone);
    assert.deepEqual(services(calls), [
      ...["systemctl enable keepalived", "systemctl start keepalived"],
    ]);
  });

  it("adds other control planes without releasing the address", () => {
    run(alone);
    assert.deepEqual(services(run(three).calls), [
      ...["systemctl enable keepalived", "systemctl reload-or-restart keepalived"],
    ]);
  });

  it("keeps control planes that are about to leave, which would otherwise take the address", () => {
    run(three);
    run(alone);
    assert.match(
      machine.file(config) ?? "",
      /unicast_peer \{\n(?: {4}(?:10\.0\.0\.12|10\.0\.0\.13|127\.0\.0\.1)\n){3} {2}\}/,
    );
  });

  it("does nothing if the cluster has no virtual IP", () => {
    const { code, stderr, calls } = run(none, "virtual_ip; await_virtual_ip");
    assert.equal(code, 0, stderr);
    assert.deepEqual(
      calls.filter((call) => call !== "hostname "),
      [],
    );
  });

  it("disables keepalived if the cluster has another endpoint, and keeps the user's own keepalived", () => {
    run(alone);
    assert.deepEqual(services(run(none).calls), ["systemctl disable --now keepalived"]);
    assert.equal(machine.file(config), undefined);
    machine.put(config, "vrrp_instance mine {\n}\n");
    assert.deepEqual(services(run(none).calls), []);
    assert.match(machine.file(config) ?? "", /mine/);
  });

  it("succeeds if this machine has the address", () => {
    machine.put("here");
    const { code, calls } = run(alone, "await_virtual_ip");
    assert.equal(code, 0);
    assert.ok(!calls.some((call) => call.startsWith("curl")));
  });

  it("succeeds if another control plane answers at the address", () => {
    machine.stub("curl", 'case "$*" in *https://10.0.0.100:6443/readyz) echo ok ;; esac');
    assert.equal(run(three, "await_virtual_ip").code, 0);
  });

  it("fails if no control plane has the address after the wait", () => {
    const { code, stderr } = run(three, 'poll() { shift; "$@"; }; await_virtual_ip');
    assert.equal(code, 1);
    assert.match(
      stderr,
      /\nreason: no control plane has the virtual IP 10\.0\.0\.100 after 60 s; /,
    );
  });
});

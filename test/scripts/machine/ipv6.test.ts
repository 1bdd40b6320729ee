import { strict as assert } from "node:assert";
import { ipv6Script, getIpv6ScriptValues } from "../../../components/machine/ipv6-script.js";
import { preparationScripts } from "../../../components/machine/preparation.js";
import { freshDebian, workerValues } from "../../support/machine/fresh-debian.js";
import { Sandbox } from "../../support/machine/sandbox.js";

const address = "fd00:10::f816:3eff:fe00:1";
const ranges = { nodes: "fd00:10::/64", pods: "fd00:10:244::/56" };
const there = `echo "2: ens3    inet6 ${address}/64 scope global dynamic"`;
const impatient = ipv6Script.replace("poll 60", "poll 1");
const settings = "etc/sysctl.d/91-stackadm-ipv6.conf";

describe("ipv6.sh", () => {
  let machine: Sandbox;
  const run = (script = ipv6Script) =>
    machine.run([...preparationScripts, script], {
      ...workerValues(),
      ...(getIpv6ScriptValues(ranges, address) as Record<string, string>),
    });
  beforeEach(() => {
    machine = new Sandbox({
      ...freshDebian,
      ip: there,
    });
  });
  afterEach(() => {
    machine.close();
  });

  it("runs after the preparation in each run, and prints only the preparation's result", () => {
    for (const time of ["first", "second"]) {
      const { code, stdout, stderr, calls } = run();
      assert.equal(code, 0, `${time}: ${stderr}`);
      assert.equal(stdout, '\n@stackadm {"kubelet": "1.36.3"}\n');
      assert.ok(calls.includes(`ip -o -6 address show to ${address}`));
    }
  });

  it("keeps router advertisements accepted, by a setting that precedes forwarding", () => {
    run();
    assert.equal(
      machine.file(settings),
      "net/ipv6/conf/ens3/accept_ra = 2\nnet.ipv6.conf.all.forwarding = 1\n",
    );
  });

  it("leaves accept_ra unchanged if the kernel does not process router advertisements", () => {
    machine.stub("sysctl", 'case "$*" in *accept_ra) echo 0 ;; *) echo 1 ;; esac');
    run();
    assert.equal(machine.file(settings), "\nnet.ipv6.conf.all.forwarding = 1\n");
  });

  it("fails with the address if the machine does not have the address", () => {
    machine.stub("ip", "");
    const { code, stderr } = run(impatient);
    assert.equal(code, 1);
    assert.match(stderr, /\nreason: machine does not have its address fd00:10::f816:3eff:fe00:1 /);
  });

  it("refuses a tentative address, which another machine may have too", () => {
    machine.stub("ip", `${there.slice(0, -1)} tentative"`);
    assert.equal(run(impatient).code, 1);
  });

  it("blocks pods from the machines' own ports once, and again when kubelet starts", () => {
    const rules = () => (machine.file("rules6") ?? "").trim().split("\n");
    run();
    const guarded = rules();
    assert.deepEqual(guarded, [
      ...["22", "2379:2381", "10250", "10257:10259"].flatMap((ports) => [
        `INPUT -s ${ranges.pods} -p tcp --dport ${ports} -m conntrack --ctdir ORIGINAL -j DROP`,
        `FORWARD -s ${ranges.pods} -d ${ranges.nodes} -p tcp --dport ${ports} -m conntrack --ctdir ORIGINAL -j DROP`,
      ]),
    ]);
    run();
    assert.deepEqual(rules(), guarded);
    const unit = "etc/systemd/system/kubelet.service.d/21-stackadm-guard-ipv6.conf";
    const [, pods = "", nodes = ""] =
      /^\[Service\]\nExecStartPre=\/\S+\/stackadm-guard-ipv6 (\S+) (\S+)$/m.exec(
        machine.file(unit) ?? "",
      ) ?? [];
    assert.equal(
      machine.execute(machine.file("usr/local/sbin/stackadm-guard-ipv6") ?? "", pods, nodes).code,
      0,
    );
    assert.deepEqual(rules(), guarded);
  });

  it("fails if ip6tables cannot add a rule", () => {
    machine.stub("ip6tables", 'case "$*" in *2379*) exit 4 ;; *" -C "*) exit 1 ;; esac');
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(stderr, /\nreason: ip6tables on machine cannot keep pods away/);
  });
});

import { strict as assert } from "node:assert";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { preparationScripts } from "../../../../components/machine/preparation.js";
import { freshDebian, workerValues } from "../../../support/machine/fresh-debian.js";
import { Sandbox, type Outcome } from "../../../support/machine/sandbox.js";

describe("the pod guard of prepare.sh", () => {
  let machine: Sandbox;
  const run = (over: object = {}): Outcome => machine.run(preparationScripts, workerValues(over));
  beforeEach(() => {
    machine = new Sandbox(freshDebian);
  });
  afterEach(() => {
    machine.close();
  });

  const rules = (): string[] => (machine.file("rules") ?? "").trim().split("\n").sort();
  const begun = "-m conntrack --ctdir ORIGINAL";
  const guarded = [
    "FORWARD -d 169.254.169.254/32 -j DROP",
    ...["22", "2379:2381", "10250", "10257:10259"].flatMap((ports) => [
      `INPUT -s 10.244.0.0/16 -p tcp --dport ${ports} ${begun} -j DROP`,
      `FORWARD -s 10.244.0.0/16 -d 10.0.0.0/24 -p tcp --dport ${ports} ${begun} -j DROP`,
    ]),
  ].sort();

  it("blocks pods from the metadata service and the machines' own ports, with each rule once", () => {
    assert.equal(run().code, 0);
    assert.deepEqual(rules(), guarded);
    assert.equal(run().code, 0);
    assert.deepEqual(rules(), guarded);
  });

  it("blocks pods' link-local addresses from the machine's own ports if the machine has IPv6", () => {
    run();
    assert.equal(machine.file("rules6"), undefined);
    machine.put("proc/net/if_inet6");
    for (const time of ["once", "again"]) {
      assert.equal(run().code, 0, time);
      assert.deepEqual(
        machine.file("rules6")?.trim().split("\n"),
        ["22", "2379:2381", "10250", "10257:10259"].map(
          (ports) => `INPUT -s fe80::/10 -p tcp --dport ${ports} ${begun} -j DROP`,
        ),
      );
    }
    machine.stub("ip6tables", 'case "$*" in *" -C "*) exit 1 ;; *) exit 4 ;; esac');
    assert.equal(run().code, 1);
  });

  it("runs before each start of kubelet", () => {
    run();
    const dropIn =
      machine.file("etc/systemd/system/kubelet.service.d/20-stackadm-guard.conf") ?? "";
    const [, range = "", nodes = ""] =
      /^\[Service\]\nExecStartPre=\/\S+\/stackadm-guard (\S+) (\S+) yes$/m.exec(dropIn) ?? [];
    rmSync(join(machine.root, "rules"));
    const guard = machine.file("usr/local/sbin/stackadm-guard") ?? "";
    assert.equal(machine.execute(guard, range, nodes).code, 0);
    assert.deepEqual(rules(), guarded);
  });

  describe("about packets to pods without a route of the pod network", () => {
    const routes = ({ calls }: Outcome): string[] =>
      calls.filter((call) => /^ip route (replace|del)/.test(call));
    const metric = "metric 4278198272";

    it("keeps them away from the default route, and hides the route from BIRD", () => {
      const done = run();
      assert.equal(done.code, 0, done.stderr);
      assert.deepEqual(routes(done), [
        `ip route replace unreachable 10.244.0.0/16 proto kernel ${metric}`,
      ]);
      assert.match(
        machine.file("etc/systemd/system/kubelet.service.d/20-stackadm-guard.conf") ?? "",
        /stackadm-guard 10\.244\.0\.0\/16 10\.0\.0\.0\/24 yes\n/,
      );
    });

    it("lets them use the default route if the router has the routes, or the pod network is unknown", () => {
      for (const podNetwork of [{ kind: "cloud-routes" }, { kind: "none" }]) {
        const done = run({ podNetwork });
        assert.equal(done.code, 0, done.stderr);
        assert.deepEqual(routes(done), [`ip route del unreachable 10.244.0.0/16 ${metric}`]);
      }
    });
  });

  it("fails the preparation if iptables cannot add a rule", () => {
    machine.stub("iptables", 'case "$*" in *2379*) exit 4 ;; *" -C "*) exit 1 ;; esac');
    const { code, stderr } = run();
    assert.equal(code, 1);
    assert.match(stderr, /\nreason: iptables on machine cannot keep pods away/);
  });
});

import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Sandbox, type Outcome } from "../../support/machine/sandbox.js";

const components = join(__dirname, "..", "..", "..", "components");
/** Scripts that only compare the immutable values. */
const scripts = [
  ...["remote-scripts/scripts/common.sh", "kubeadm/scripts/immutable-values.sh"].map((path) =>
    readFileSync(join(components, path), "utf8"),
  ),
  "run_step frozen keep_frozen",
];
const file = "var/lib/stackadm/frozen";

describe("immutable-values.sh", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox({ hostname: "echo machine" });
  });
  afterEach(() => {
    machine.close();
  });
  const keep = (kept: readonly string[], given: readonly string[]): Outcome => {
    machine.put(file, `${kept.join("\n")}\n`);
    return machine.run(scripts, { FROZEN: given.join("\n") });
  };

  it("refuses all changed values in one message with both values, and keeps the stored ones", () => {
    const kept = ["network.pods 10.244.0.0/16", 'kubernetes.kubelet {"maxPods":120}'];
    const { code, stderr } = keep(kept, [
      "network.pods 10.250.0.0/16",
      'kubernetes.kubelet {"maxPods":210}',
    ]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /\nreason: \[INVALID_CONFIG\] a living cluster keeps its values: cluster\.network\.pods: 10\.244\.0\.0\/16 cannot become 10\.250\.0\.0\/16; cluster\.kubernetes\.kubelet: \{"maxPods":120\} cannot become \{"maxPods":210\}; write the former values again, or destroy the cluster and create it again\n$/,
    );
    assert.equal(machine.file(file), `${kept.join("\n")}\n`);
  });

  it("stores a new path, and keeps stored paths that the caller omits", () => {
    const { code, stderr } = keep(["b 1", "gone 2"], ["a x y", "b 1"]);
    assert.equal(code, 0, stderr);
    assert.equal(machine.file(file), "a x y\nb 1\ngone 2\n");
    assert.equal(machine.run(scripts, { FROZEN: "a z" }).code, 1);
    assert.equal(machine.run(scripts, { FROZEN: "gone 3" }).code, 1);
  });

  it("treats a mode of kube-proxy that is not stored as iptables", () => {
    const mode = (name: string): string => `kubernetes.kubeProxy.mode ${name}`;
    const refused = keep(["b 1"], ["b 1", mode("nftables")]);
    assert.match(refused.stderr, /kubeProxy\.mode: iptables cannot become nftables; /);
    assert.equal(keep([mode("nftables")], [mode("nftables")]).code, 0);
    const back = keep([mode("nftables")], ["b 1"]);
    assert.match(back.stderr, /kubeProxy\.mode: nftables cannot become iptables; /);
    assert.equal(keep(["b 1"], ["b 1", mode("iptables")]).code, 0);
    assert.equal(machine.file(file), "b 1\n");
  });

  it("stores the values if no values are stored", () => {
    assert.equal(machine.run(scripts, { FROZEN: "a 1" }).code, 0);
    assert.equal(machine.file(file), "a 1\n");
  });
});

import { strict as assert } from "node:assert";
import { farewellScripts, mintScript } from "../../components/kubeadm/node-scripts.js";
import { Sandbox } from "../support/sandbox.js";

const common: Readonly<Record<string, string>> = {
  hostname: "echo machine",
  systemctl: "exit 0",
};
const serverId = "0b1c2d3e-0000-4000-8000-000000000001";

describe("mint.sh", () => {
  let machine: Sandbox;
  beforeEach(() => {
    machine = new Sandbox({
      ...common,
      kubeadm: 'case "$1 $2" in "token create") echo abcdef.0123456789abcdef ;; esac',
      kubectl: 'case "$*" in *configmap*) echo signature ;; esac',
    });
  });
  afterEach(() => {
    machine.close();
  });

  it("mints a token of ten minutes for a machine", () => {
    const { code, stdout, calls } = machine.execute(mintScript, `mint dev-general-0 ${serverId}`);
    assert.equal(code, 0);
    assert.equal(stdout, "abcdef.0123456789abcdef\n");
    assert.ok(calls.includes("kubeadm token create --ttl 10m --description join of dev-general-0"));
  });

  it("forgets the node of a server that was replaced, and no other", () => {
    machine.stub(
      "kubectl",
      'case "$*" in *configmap*) echo s ;; "get node"*) printf openstack:///11111111-0000-4000-8000-000000000001 ;; esac',
    );
    const forgets = (id: string): boolean =>
      machine
        .execute(mintScript, `mint dev-general-0 ${id}`)
        .calls.includes("kubectl delete node dev-general-0");
    assert.equal(forgets(serverId), true);
    assert.equal(forgets("11111111-0000-4000-8000-000000000001"), false);
  });

  it("revokes a token by its public half", () => {
    const { code, calls } = machine.execute(mintScript, "revoke abcdef");
    assert.equal(code, 0);
    assert.deepEqual(calls, ["kubeadm token delete abcdef"]);
  });

  for (const wish of [
    "",
    "mint",
    "mint a; reboot",
    "mint $(reboot)",
    "mint ../../etc",
    "mint A",
    "mint a",
    "mint a b",
    `mint a; ${serverId}`,
    `mint $(reboot) ${serverId}`,
    `mint a ${serverId} b`,
    "revoke abcdef b",
    "revoke abcdef.0123456789abcdef",
    "revoke *",
    "shell",
    "-s",
  ]) {
    it(`does nothing for ${JSON.stringify(wish)}`, () => {
      const { code, calls } = machine.execute(mintScript, wish);
      assert.equal(code, 64);
      assert.deepEqual(calls, []);
    });
  }
});

describe("farewell.sh", () => {
  it("does nothing where there is no cluster", () => {
    const machine = new Sandbox(common);
    try {
      assert.equal(machine.run(farewellScripts, {}).stdout, '{"released": "nothing"}\n');
    } finally {
      machine.close();
    }
  });

  it("deletes services and claims, and waits until both are gone", () => {
    const machine = new Sandbox({
      ...common,
      kubectl: [
        'case "$*" in',
        '  "get services"*) [ -e $root/no-services ] || echo "shop web" ;;',
        '  "delete service"*) touch $root/no-services ;;',
        '  "get persistentvolumes"*) [ -e $root/no-volumes ] || echo "pvc-1 shop data" ;;',
        '  "delete persistentvolumeclaim"*) touch $root/no-volumes ;;',
        '  "get pods"*) echo "db-0 " ;;',
        "esac",
      ].join("\n"),
    });
    try {
      machine.put("etc/kubernetes/admin.conf");
      const { code, stdout, stderr, calls } = machine.run(farewellScripts, {});
      assert.equal(code, 0, stderr);
      assert.equal(stdout, '{"released": "yes"}\n');
      assert.ok(calls.includes("kubectl delete service --namespace shop web --wait=false"));
      assert.ok(
        calls.some((call) => /delete persistentvolumeclaim --namespace shop data/.test(call)),
      );
      assert.ok(calls.some((call) => /delete pod --namespace shop db-0/.test(call)));
    } finally {
      machine.close();
    }
  });

  it("does not take an API server that cannot be asked for an empty cluster", () => {
    const machine = new Sandbox({
      ...common,
      kubectl: 'case "$*" in *readyz*) ;; *) exit 1 ;; esac',
    });
    try {
      machine.put("etc/kubernetes/admin.conf");
      const script = farewellScripts.map((text) => text.replaceAll("poll 240", "poll 1"));
      const { code, stderr } = machine.run(script, {});
      assert.notEqual(code, 0);
      assert.match(stderr, /farewell failed/);
    } finally {
      machine.close();
    }
  });
});

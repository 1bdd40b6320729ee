import { strict as assert } from "node:assert";
import type { KubernetesApi } from "../../../../automation/verify/kubernetes-client.js";
import { checkRoles } from "../../../../automation/verify/role-checks.js";
import { parseOutputs } from "../../../../automation/verify/cluster-outputs.js";
import type { SshSessions } from "../../../../automation/verify/ssh-sessions.js";
import { readNodes } from "../../../../automation/verify/read-nodes.js";
import { getEarlyImages } from "../../../../components/machine/early-images.js";
import { getPreparationValues } from "../../../../components/machine/preparation.js";
import { getFirewallRules } from "../../../../components/network/firewall-plan.js";
import { planCluster, listSecurityGroupKeys } from "../../../../components/plan/cluster-plan.js";
import { roleTable, type MachineRole, type RoleRow } from "../../../../components/config/roles.js";
import { createImageTable } from "../../../../base/versions/container-images.js";
import type { ClusterArgs } from "../../../../components/config/cluster-spec.js";
import { conditionsIn, shellConditionsIn } from "../../../support/role-conditions.js";
import { sourcesIn } from "../../../support/sources.js";
import { specOf } from "../../../support/config/spec.js";

const invented = "gateway" as MachineRole;
const label = "example.org/gateway";
const row: RoleRow = {
  ...roleTable.worker,
  title: "gateway of the tests",
  kubeadmImages: ["pause"],
  addonImages: ["agnhost"],
  label,
  grant: "certificates",
  proofs: ["etcd-pod"],
};
const table = roleTable as Record<string, RoleRow>;

describe("role added to the table", () => {
  const spec = specOf();
  before(() => {
    table[invented] = row;
  });
  after(() => {
    Reflect.deleteProperty(table, invented);
  });

  it("gets its own security group in addition to the group of all machines", () => {
    const groups = planCluster(spec).securityGroups.filter(({ group }) => group === invented);
    assert.deepEqual(groups, [
      {
        group: invented,
        name: `${spec.name}-gateway`,
        what: "Machines with the role gateway of the tests",
      },
    ]);
    assert.deepEqual(listSecurityGroupKeys(invented), ["node", invented]);
  });

  it("gets the firewall rules of its row: SSH, joins and etcd", () => {
    const opened = (over: Partial<ClusterArgs> = {}): string[] => [
      ...new Set(
        getFirewallRules(specOf(over))
          .filter(
            ({ group, from }) => group === invented || ("group" in from && from.group === invented),
          )
          .map(({ key }) => key.replace(/-v[46]$/, "")),
      ),
    ];
    const onward = "gateway-ssh-onward-from-control-plane";
    assert.deepEqual(opened(), [onward]);
    assert.deepEqual(opened({ access: "direct" }), [
      ...["gateway-ssh-from-203.0.113.0-24", onward],
    ]);
    table[invented] = { ...row, grant: "token", runsEtcd: true };
    assert.deepEqual(opened(), [
      ...["control-plane-join-token-from-gateway", "gateway-etcd-from-gateway", onward],
    ]);
    table[invented] = row;
  });

  it("gets the images of its row", () => {
    const values = getPreparationValues(spec, invented);
    assert.equal(values.KUBEADM_IMAGES, "/(pause):");
    const images = createImageTable(spec.kubernetes.version, spec.kubernetes.registry);
    const more = getEarlyImages(spec, "worker").filter((one) => one !== images.livenessProbe);
    assert.deepEqual(getEarlyImages(spec, invented), more);
  });

  it("gets the checks of its row", async () => {
    const machine = { zone: "a", address: "10.0.0.9", serverId: "id" };
    const asked: string[] = [];
    const api = {
      get: (path: string) => {
        asked.push(path);
        const conditions = [{ type: "Ready", status: "True" }];
        return Promise.resolve({ status: { phase: "Running", conditions } });
      },
    };
    const outputs = parseOutputs({
      kubeconfig: "",
      clusterName: "dev",
      apiEndpoint: "",
      hostKeys: [],
      nodes: [
        { ...machine, name: "dev-edge-0", role: invented },
        { ...machine, name: "dev-general-0", role: "worker" },
      ],
    });
    const checks = await checkRoles({
      outputs,
      timeout: 0,
      api: api as unknown as KubernetesApi,
      sessions: {} as unknown as SshSessions,
    });
    assert.deepEqual(
      checks.map(({ name, where, ok }) => [name, where, ok]),
      [["etcd member", "dev-edge-0", true]],
    );
    assert.equal(asked.length, 1);
  });

  it("is recognised by its label and sorted by the table", async () => {
    const ends = "2027-09-24T03:31:14Z 2027-11-24T03:31:14Z apiserver.crt";
    const node = (name: string, labels: object) => ({
      metadata: { name, labels, annotations: { "stackadm.io/certificates": ends } },
      spec: {},
      status: { nodeInfo: { kubeletVersion: "v1.36.3" } },
    });
    const items = [
      node("a", { [label]: "" }),
      node("b", { "stackadm.io/pool": "general" }),
      node("c", { "node-role.kubernetes.io/control-plane": "" }),
    ];
    const api = { get: () => Promise.resolve({ items }) } as unknown as KubernetesApi;
    assert.deepEqual(
      (await readNodes(api)).map(({ name, role, certificate }) => [name, role, certificate?.file]),
      [
        ["c", "control plane", "apiserver.crt"],
        ["b", "general", undefined],
        ["a", "gateway of the tests", "apiserver.crt"],
      ],
    );
  });
});

describe("table of roles", () => {
  /** Conditions about the path of a pool's setting. */
  const reserved = ['path.startsWith("workers.")', 'group.startsWith("workers.")'];
  /**
   * Lines about the name of a phase of kubeadm, and about the addresses in an API server's
   * certificate (approve-kubelet-certificates.sh).
   */
  const ofKubernetes =
    /kubeadm init phase control-plane|^timeout \S+ \S+ \S+ kubectl get nodes -o go-template|^if grep -qxF "\$1 control-plane"/;

  it("is the only code that depends on a role's name", () => {
    const sources = sourcesIn(["components", "automation", "openstack", "base"], /\.ts$/);
    assert.deepEqual(
      sources
        .filter(({ path }) => path !== "components/config/roles.ts")
        .flatMap(({ path, text }) =>
          conditionsIn(text)
            .filter((found) => !reserved.includes(found))
            .map((found) => `${path}: ${found}`),
        ),
      [],
    );
    assert.deepEqual(
      sourcesIn(["components"], /\.sh$/).flatMap(({ path, text }) =>
        shellConditionsIn(text)
          .filter((found) => !ofKubernetes.test(found))
          .map((found) => `${path}: ${found}`),
      ),
      [],
    );
  });

  it("is enforced for other spellings of role checks too", () => {
    for (const text of [
      'if (role === "worker") x();',
      'const rank = plan.role === "leader" ? 0 : 1;',
      'const rank = (role: string) => (kind(role) === "control plane" ? 0 : 1);',
      'x = pool !== "control-plane";',
      'x = "node-role.kubernetes.io/control-plane" in labels;',
      'x = ["control-plane", "etcd"].includes(one);',
      'x = ["leader"].includes(machine.role);',
      'x = names.includes("Workers");',
      'x = role.startsWith("control");',
      "x = /^control/.test(role);",
      "switch (plan.role) { default: }",
      'switch (what) { case "bastion": }',
      "interface A { readonly controlPlane: boolean }",
      "const f = (isWorker: boolean) => isWorker;",
      "f({ controlPlane: true });",
      "const isControlPlane = label in labels;",
      "const dedicatedEtcd = spec.etcd !== undefined;",
    ])
      assert.notDeepEqual(conditionsIn(text), [], text);
    for (const text of [
      "x = one.role === role;",
      'x = spec.access === "bastion";',
      'x = ingress?.kind === "workers";',
      "x = roleTable[role].node ? 1 : 0;",
      "x = spec.etcd && group(spec);",
    ])
      assert.deepEqual(conditionsIn(text), [], text);
    for (const text of [
      "[[ $ROLE == leader ]]",
      "  worker) ;;",
      'if [[ $1 == "control-plane" ]]; then',
    ])
      assert.notDeepEqual(shellConditionsIn(text), [], text);
  });
});

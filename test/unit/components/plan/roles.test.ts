import { strict as assert } from "node:assert";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { earlyImages, preparation } from "../../../../components/machine/preparation.js";
import { planCluster, securityGroupsOf } from "../../../../components/plan/cluster-plan.js";
import { roleTable, type Role, type RoleRow } from "../../../../components/plan/roles.js";
import { imageTable } from "../../../../base/images.js";
import { parseClusterSpec } from "../../../../components/spec/cluster-spec.js";
import { smallest } from "../../../support/spec.js";

const root = join(__dirname, "../../../..");
const invented = "gateway" as Role;
const row: RoleRow = {
  ...roleTable.worker,
  title: "gateway of the tests",
  kubeadmImages: ["pause"],
  addonImages: ["agnhost"],
};

describe("a role that is added to the table", () => {
  const table = roleTable as Record<string, RoleRow>;
  const parsed = parseClusterSpec({ ...smallest, name: "dev" });
  assert.ok("spec" in parsed);
  const { spec } = parsed;
  before(() => {
    table[invented] = row;
  });
  after(() => {
    Reflect.deleteProperty(table, invented);
  });

  it("has its security group, beside that of all machines", () => {
    const groups = planCluster(spec).securityGroups.filter(({ group }) => group === invented);
    assert.deepEqual(groups, [
      {
        group: invented,
        name: `${spec.name}-gateway`,
        what: "Machines with the role gateway of the tests",
      },
    ]);
    assert.deepEqual(securityGroupsOf(invented), ["node", invented]);
  });

  it("is prepared by its row alone", () => {
    const values = preparation(spec, invented);
    assert.equal(values.KUBEADM_IMAGES, "/(pause):");
    const images = imageTable(spec.kubernetes.version, spec.kubernetes.registry);
    const more = earlyImages(spec, "worker").filter((one) => one !== images.livenessProbe);
    assert.deepEqual(earlyImages(spec, invented), more);
  });

  it("is asked for nowhere else: no source compares roles", () => {
    const sources = ["components", "automation", "cloud"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.(ts|sh)$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name)),
    );
    const compares = /\b[rR]ole\)? *[!=]==? *["'](worker|control-plane|etcd|bastion)["']/;
    assert.deepEqual(
      sources.filter((file) => compares.test(readFileSync(file, "utf8"))),
      [],
    );
  });
});

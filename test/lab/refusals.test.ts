import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import {
  compareInventories,
  takeInventory,
  type CloudObject,
} from "../../openstack/inventory/inventory.js";
import { stackadm } from "./support/stack/command-line.js";
import { labCluster, type LabCluster } from "./support/stack/lab-cluster.js";
import { getPackageRoot } from "../../base/paths.js";

const stack = "refused";

describe("`up` with invalid input, on the lab", function () {
  this.timeout(120_000);
  let cluster: LabCluster;
  let directory: string;
  let initially: CloudObject[];

  before(async () => {
    cluster = await labCluster(stack);
    directory = mkdtempSync(join(tmpdir(), "stackadm-refusals-"));
    initially = await takeInventory(cluster.cloud);
  });
  after(async () => {
    rmSync(directory, { recursive: true });
    await cluster.close();
  });
  afterEach(async () => {
    const { added, removed } = compareInventories(initially, await takeInventory(cluster.cloud));
    assert.deepEqual({ added, removed }, { added: [], removed: [] }, "something was made");
  });

  const up = (changes: Readonly<Record<string, unknown>>, env: NodeJS.ProcessEnv = {}) =>
    stackadm(cluster, ["up"], { changes, env });

  const refused = (
    title: string,
    changes: Readonly<Record<string, unknown>>,
    ...patterns: readonly RegExp[]
  ): void => {
    it(title, async () => {
      const { code, text } = await up(changes);
      assert.notEqual(code, 0, text);
      for (const pattern of patterns) assert.match(text, pattern);
      assert.doesNotMatch(text, /^\s+at .*:\d+:\d+/m, "a stack trace is no sentence");
    });
  };

  refused("refuses an image that does not exist", { image: "debian-13" }, /debian-13/, /image/i);
  refused(
    "refuses a flavor that does not exist",
    { controlPlane: { flavor: "huge" } },
    /huge/,
    /flavor/i,
  );
  refused(
    "refuses an external network that does not exist",
    { externalNetwork: "nowhere" },
    /nowhere/,
  );
  refused(
    "refuses more machines than the quota allows",
    { workers: { general: { flavor: "k8s-worker", count: 60 } } },
    /quota/i,
    /instances|cores/i,
  );
  refused(
    "refuses an invalid stack file, and lists all problems",
    {
      allowedCidrs: ["172.29.0.0/33"],
      network: { nodes: "10.0.0.0/16", pods: "10.0.4.0/22" },
      workers: { general: { flavor: "k8s-worker", count: -1 } },
    },
    /allowedCidrs/,
    /network\.(nodes|pods)/,
    /workers\.general\.count/,
  );

  it("refuses a name that a foreign network has", async () => {
    const network = (await cluster.cloud.request("network", "POST", "/networks", {
      network: { name: stack },
    })) as { network: { id: string } };
    try {
      const { code, text } = await up({});
      assert.notEqual(code, 0, text);
      assert.match(text, new RegExp(`network[^\\n]*${stack}`));
    } finally {
      await cluster.cloud.request("network", "DELETE", `/networks/${network.network.id}`);
    }
  });

  const clouds = (password: string, address: string): Record<string, string> => {
    const file = join(directory, "clouds.yaml");
    const auth = {
      auth_url: address,
      username: "demo",
      password,
      project_name: "demo",
      user_domain_name: "Default",
      project_domain_name: "Default",
    };
    writeFileSync(file, stringify({ clouds: { other: { auth, region_name: "lab" } } }));
    return { OS_CLOUD: "other", OS_CLIENT_CONFIG_FILE: file };
  };

  it("refuses a wrong password without printing the password", async () => {
    const { code, text } = await up({}, clouds("wrong-canary", cluster.cloud.authUrl));
    assert.notEqual(code, 0);
    assert.match(text, /password|credentials|refuse/i);
    assert.ok(!text.includes("wrong-canary"));
  });

  it("fails if the cloud is unreachable", async () => {
    const { code, text } = await up({}, clouds("any", "http://127.0.0.1:9/v3"));
    assert.notEqual(code, 0);
    assert.match(text, /127\.0\.0\.1:9/);
  });

  it("creates no stack file", () => {
    assert.equal(existsSync(join(getPackageRoot(), "Pulumi.other.yaml")), false);
  });
});

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { getLoginKeyPath } from "../../../../automation/setup/operation-environment.js";
import { parseOutputs } from "../../../../automation/verify/cluster-outputs.js";
import { getPackageRoot } from "../../../../base/paths.js";
import { defaultKubernetesVersion } from "../../../../base/versions/pinned-versions.js";
import {
  compareInventories,
  takeInventory,
  type CloudObject,
} from "../../../../openstack/inventory/inventory.js";
import { getBuildCacheFolder } from "../../../../packages/lab/kubernetes/build.js";
import {
  listPages,
  readCodeBlocks,
  type CodeBlock,
} from "../../../../packages/tools/documentation/command-blocks.js";
import { nonEmpty } from "../../../support/non-empty.js";
import type { Said } from "../../support/stack/command-line.js";
import { labCluster, type LabCluster } from "../../support/stack/lab-cluster.js";
import { ShellSession } from "../../support/stack/shell-session.js";

const minutes = 60_000;
/** Name of the sequence in the markers `run`. */
const sequence = "dev-lab";
/** Name of the stack. It is the default of `--stack`, so some blocks do not name it. */
const stack = "dev";
/** Name of the cluster. The lab's user may have another cluster that is called `dev`. */
const name = "docs";
/** Address of the API in the pages. */
const exampleApi = "https://192.0.2.10:6443";

const root = getPackageRoot();
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const blocks = listPages(read("docs/README.md"))
  .flatMap((page) => readCodeBlocks(page, read(page)))
  .filter(({ marker }) => marker?.kind === "run" && marker.sequence === sequence);

/**
 * Returns the folder of kubectl and kubeadm that the lab built. kubectl of the host may be too old.
 * Returns undefined if the lab's packages are mirrored. Then the host must have the programs.
 */
function findBuiltPrograms(): string | undefined {
  const folder = join(getBuildCacheFolder(), "components");
  if (!existsSync(folder)) return undefined;
  const prefix = `kubernetes-v${defaultKubernetesVersion}-`;
  const found = readdirSync(folder).find((one) => one.startsWith(prefix) && !one.endsWith(".part"));
  return found === undefined ? undefined : join(folder, found);
}

/** Returns the variables of a reader's shell: those of the lab, and the login key of a CI job. */
function readerVariables({ environment }: LabCluster): NodeJS.ProcessEnv {
  const others = Object.entries(environment.env).filter(
    ([variable]) => !["KUBECONFIG", "SSH_AGENT_PID"].includes(variable),
  );
  return { ...Object.fromEntries(others), LOGIN_KEY: readFileSync(getLoginKeyPath(), "utf8") };
}

function openSession(cluster: LabCluster, directory: string): ShellSession {
  const session = new ShellSession(directory, readerVariables(cluster));
  const folder = findBuiltPrograms();
  if (folder !== undefined)
    for (const program of ["kubectl", "kubeadm"])
      session.addProgram(program, join(folder, program));
  return session;
}

// The blocks are in README.md and docs/. Their markers `<!-- run: dev-lab -->` select them.
describe("the command blocks of the documentation, on the lab", function () {
  this.timeout(10 * minutes);
  let cluster: LabCluster;
  let directory: string;
  let initially: CloudObject[];
  let session: ShellSession;
  /** Settings that differ from those of the lab's tests. Blocks in YAML add to them. */
  let changes: Readonly<Record<string, unknown>> = { name };
  let page = "";

  before(async () => {
    cluster = await labCluster(stack);
    directory = dirname(cluster.stackFile);
    // The absolute path of the program makes the directory equivalent to a checkout.
    const project = read("Pulumi.yaml").replace(/^main: /m, `main: ${root}/`);
    writeFileSync(join(directory, "Pulumi.yaml"), project);
    initially = await takeInventory(cluster.cloud);
    session = openSession(cluster, directory);
  });
  after(async () => {
    await session.close();
    await cluster.close();
  });

  const writeSettings = (): void => {
    writeFileSync(cluster.stackFile, cluster.settings(changes));
  };
  const addSettings = (text: string): void => {
    const { config } = parse(text) as { config: Record<string, Record<string, unknown>> };
    changes = { ...changes, ...config["stackadm:cluster"] };
    writeSettings();
  };
  const apiEndpoint = async (): Promise<string> =>
    parseOutputs(await cluster.service.outputs(stack)).apiEndpoint;

  /** Returns the commands with the names, addresses and paths of this test. */
  const onLab = async (commands: string): Promise<string> => {
    const { OS_CLOUD: cloud = "", STACKADM_SITE: site = "" } = cluster.environment.env;
    const text = commands
      .replaceAll(/(?<=--stack |stack select |Pulumi\.)prod\b/g, stack)
      .replaceAll(/\bprod\b/g, name)
      .replaceAll("mycloud", cloud)
      .replaceAll("/etc/stackadm/site.yaml", site)
      .replaceAll("/srv/clusters", directory)
      .replaceAll("/srv/backups", join(directory, "kept"));
    return text.includes(exampleApi) ? text.replaceAll(exampleApi, await apiEndpoint()) : text;
  };

  /** Follows a block as a reader does. Each page begins with the settings of the cluster. */
  const follow = async (block: CodeBlock): Promise<Said> => {
    if (block.page !== page) {
      page = block.page;
      writeSettings();
    }
    if (block.language === "yaml") {
      addSettings(block.text);
      return { code: 0, text: "" };
    }
    // `pulumi config set --secret` reads the value from the standard input.
    return session.run(await onLab(block.text), "in-clear\n");
  };

  for (const block of nonEmpty(blocks))
    it(`succeed: ${block.page}, ${block.heading} (line ${block.line})`, async () => {
      const { code, text } = await follow(block);
      assert.equal(code, 0, text);
    });

  it("leave no objects in the cloud after the last block", async () => {
    const { added, removed } = compareInventories(initially, await takeInventory(cluster.cloud));
    assert.deepEqual([added, removed], [[], []]);
  });
});

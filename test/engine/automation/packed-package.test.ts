import assert from "node:assert/strict";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { getPackageRoot } from "../../../base/paths.js";
import { run } from "../../../base/run-command.js";
import { toYaml } from "../../../base/yaml.js";
import { getPackageSchema } from "../../../components/provider/package-schema.js";
import { removeComments } from "../../../components/remote-scripts/script-texts.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { makeYamlHost } from "../support/languages/language-programs.js";
import { toolDirectory } from "../support/tools.js";

const root = getPackageRoot();

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;

const program = `
import * as pulumi from "@pulumi/pulumi";
import { Cluster, type CloudFacts, type ClusterArgs } from "stackadm";

const args: ClusterArgs = {
  image: "debian-12",
  externalNetwork: "public",
  allowedCidrs: ["203.0.113.0/24"],
  controlPlane: { flavor: "medium" },
  workers: { general: { flavor: "medium", count: 1 } },
  ssh: { publicKey: "ssh-ed25519 AAAALOGIN" },
  samples: true,
};
const scope = { authUrl: "https://keystone.example/v3", region: "one", projectId: "p", roles: [] };
const external = { externalNetworkId: "external", externalNetworkName: "public" };
const ids = { imageIds: { "debian-12": "image" }, flavorIds: { medium: "m" } };
const cloud: CloudFacts = { ...ids, ...external, scope };
const outputs: ClusterArgs = { ...args, image: pulumi.output("i"), ssh: { publicKey: pulumi.output("k") } };
// @ts-expect-error: the types are there, not any.
const wrong: ClusterArgs = { ...args, image: 7 };
export const endpoint: pulumi.Output<string> = new Cluster("dev", { ...args, cloud }).apiEndpoint;
export const never = (): Cluster => new Cluster("wrong", outputs ? wrong : outputs);
`;

/** Returns the files that programs and commands read in addition to the compiled files. */
function assets(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (/^(\..*|__pycache__|node_modules|tests)$/.test(entry.name)) return [];
    if (entry.isDirectory()) return assets(path);
    return /\.ts$/.test(entry.name) || dirname(path) === join("automation", "cli") ? [] : [path];
  });
}

interface Resource {
  readonly name: string;
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** Scripts that the input of each resource must contain literally. */
const scripts: Readonly<Record<string, readonly string[]>> = {
  "dev-control-plane-0-prepare": [
    "remote-scripts/scripts/common.sh",
    "remote-scripts/scripts/apt-get.sh",
    "machine/scripts/prepare/prepare.sh",
  ],
  "dev-control-plane-0-init": [
    "remote-scripts/scripts/common.sh",
    "machine/scripts/request-join-credentials.sh",
    "kubeadm/scripts/steps/control-plane.sh",
  ],
  "dev-workers-general-0-prepare": [
    "remote-scripts/scripts/common.sh",
    "remote-scripts/scripts/apt-get.sh",
    "machine/scripts/prepare/prepare.sh",
  ],
  "dev-workers-general-0-join": [
    "remote-scripts/scripts/common.sh",
    "machine/scripts/request-join-credentials.sh",
    "kubeadm/scripts/steps/join-node.sh",
  ],
  "dev-workers-general-0-leave": [
    "remote-scripts/scripts/common.sh",
    "kubeadm/scripts/steps/remove-node.sh",
  ],
  "dev-control-plane-teardown": [
    "remote-scripts/scripts/common.sh",
    "kubeadm/scripts/cloud-object-release.sh",
    "kubeadm/scripts/steps/release-cluster-objects.sh",
  ],
};

describe("the packed and installed package", function () {
  this.timeout(300_000);
  const directory = mkdtempSync(join(tmpdir(), "stackadm-package-"));
  const installed = join(directory, "node_modules", "stackadm");
  const options = { cwd: directory, env: { ...process.env, NODE_OPTIONS: "" } };

  /**
   * Installs the package into an empty directory, as a user does. Uses packages from npm's cache if
   * the cache contains them.
   */
  async function install(tarball: string): Promise<void> {
    // Uses the versions of the lock file. With version ranges, npm would install the newest
    // versions.
    const names = ["@types/node", ...Object.keys(manifest.peerDependencies)];
    const others = names.map((name) => `${name}@${manifest.devDependencies[name] ?? ""}`);
    // --prefix prevents an installation into a parent directory that has a manifest.
    const words = ["--prefix", directory, "--no-audit", "--no-fund", "--prefer-offline"];
    await run("npm", ["install", ...words, tarball, ...others], options);
  }

  const state = join(directory, "state");
  const home = process.env["STACKADM_PULUMI_HOME"] ?? join(directory, "home");

  /** Runs the real CLI, without plugins from the network. */
  const runPulumi = (cwd: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) => {
    const env = {
      ...options.env,
      PATH: `${toolDirectory()}${delimiter}${process.env["PATH"] ?? ""}`,
      PULUMI_HOME: home,
      PULUMI_BACKEND_URL: `file://${state}`,
      PULUMI_CONFIG_PASSPHRASE: "packed",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      SSH_AUTH_SOCK: "",
      ...more,
    };
    return run("pulumi", [...args, "--non-interactive"], { cwd, env, accept: [0, 1, 255] });
  };

  before(async () => {
    mkdirSync(state);
    await run("npm", ["run", "build"], { cwd: root });
    await run("npm", ["pack", "--ignore-scripts", "--pack-destination", directory], { cwd: root });
    await install(join(directory, `stackadm-${manifest.version}.tgz`));
  });
  after(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  it("contains all files that are read at run time, and no sources or tests", () => {
    const folders = ["automation", "base", "openstack", "components"];
    for (const file of folders.flatMap(assets)) {
      const packed = join(installed, "dist", file);
      assert.ok(existsSync(packed), file);
      assert.deepEqual(readFileSync(packed), readFileSync(join(root, file)), file);
    }
    // npm puts a library here if another package needs another version of it.
    const files = readdirSync(installed, { recursive: true, encoding: "utf8" }).filter(
      (file) => file.split("/")[0] !== "node_modules",
    );
    const strange =
      /(?<!\.d)\.ts$|\.map$|tsconfig|\.stamp$|(^|\/)(test|tests|packages|stand-ins)(\/|$)/;
    assert.deepEqual(
      files.filter((file) => strange.test(file)),
      [],
    );
    const folded = new Set(files.map((file) => file.split("/")[0]));
    assert.deepEqual([...folded].sort(), [
      "LICENSE",
      "Pulumi.dev.yaml",
      "Pulumi.yaml",
      "PulumiPlugin.yaml",
      "README.md",
      "automation",
      "dist",
      "docs",
      "package.json",
      "plugin.cjs",
      "program.cjs",
    ]);
  });

  it("depends on the libraries of its commands, and on Pulumi's SDKs as peers", () => {
    assert.deepEqual(Object.keys(manifest.dependencies), [
      ...["commander", "fflate", "ip-address", "semver", "ssh2", "undici", "yaml", "zod"],
    ]);
    const { "@pulumi/command": command, ...ranges } = manifest.peerDependencies;
    assert.equal(command, "1.2.1");
    assert.deepEqual(Object.keys(ranges), [
      ...["@pulumi/kubernetes", "@pulumi/openstack", "@pulumi/pulumi"],
    ]);
    assert.ok(Object.values(ranges).every((range) => range.includes("^")));
  });

  it("contains a compiled program that Pulumi starts without a TypeScript loader", async () => {
    assert.ok(!existsSync(join(directory, "node_modules", "tsx")));
    const pulumi = (...args: string[]) => runPulumi(installed, args);
    assert.equal((await pulumi("stack", "init", "empty")).code, 0);
    // The program reports all keys that are missing.
    appendFileSync(join(installed, "Pulumi.empty.yaml"), "config:\n  stackadm:cluster: {}\n");
    const { stdout } = await pulumi("preview", "--stack", "empty");
    assert.match(
      stdout,
      /error: \[INVALID_CONFIG\] Pulumi\.empty\.yaml is not valid:\n[^]*cluster\.image: is missing/,
    );
  });

  it("refuses wrong arguments of a YAML program, with a path for each", async () => {
    const shop = join(directory, "shop");
    mkdirSync(shop);
    const program = {
      name: "shop",
      runtime: "yaml",
      packages: { stackadm: "../node_modules/stackadm" },
      resources: {
        dev: {
          type: "stackadm:Cluster",
          properties: {
            image: "debian-12",
            externalNetwork: "public",
            allowedCidrs: ["203.0.113.7/24"],
            controlPlane: { flavor: "medium", count: 2 },
            ssh: { publicKey: "ssh-ed25519 AAAALOGIN" },
          },
        },
      },
    };
    writeFileSync(join(shop, "Pulumi.yaml"), toYaml(program));
    const path = [await makeYamlHost(), toolDirectory(), process.env["PATH"]].join(delimiter);
    const pulumi = (...args: string[]) => runPulumi(shop, args, { PATH: path });
    assert.equal((await pulumi("stack", "init", "dev")).code, 0);
    const { code, stdout } = await pulumi("preview");
    assert.notEqual(code, 0);
    assert.match(stdout, /allowedCidrs\.0.*203\.0\.113\.7\/24/);
    assert.match(stdout, /controlPlane\.count.*2 control planes have no good majority/);
    assert.doesNotMatch(stdout, /^ +at /m);
  });

  it("prints the schema of its component through `pulumi package get-schema`", async () => {
    // The engine installs the plugins that the package needs before it starts the package.
    for (const name of ["openstack", "command", "kubernetes"]) {
      const file = join(directory, "node_modules", "@pulumi", name, "package.json");
      const { version } = JSON.parse(readFileSync(file, "utf8")) as Manifest;
      const folder = join(home, "plugins", `resource-${name}-v${version.replace(/^v/, "")}`);
      mkdirSync(folder, { recursive: true });
      const plugin = `pulumi-resource-${name}`;
      symlinkSync(join(toolDirectory(), plugin), join(folder, plugin));
    }
    const args = ["package", "get-schema", installed];
    const { code, stdout } = await runPulumi(directory, args, { NPM_CONFIG_OMIT: "dev" });
    assert.equal(code, 0);
    const printed = JSON.parse(stdout) as ReturnType<typeof getPackageSchema>;
    const { resources, types } = getPackageSchema(manifest.version);
    assert.deepEqual(printed.resources, JSON.parse(JSON.stringify(resources)));
    assert.deepEqual(Object.keys(printed.types).sort(), Object.keys(types).sort());
  });

  it("contains the documents that its messages mention", () => {
    const files = ["README.md", "config.schema.json", "events.schema.json", "glossary.md"];
    const folders = ["build", "incidents", "operate", "pictures", "reference"];
    assert.deepEqual(
      readdirSync(join(installed, "docs")).sort(),
      [...files, ...folders, "set-up", "start", "team"].sort(),
    );
  });

  it("registers a cluster in another program, with the complete scripts", async () => {
    assert.ok(program.trim().split("\n").length <= 35);
    const type = "module";
    writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "foreign", type }));
    writeFileSync(join(directory, "program.ts"), program);
    const compilerOptions = {
      target: "es2022",
      module: "nodenext",
      outDir: "out",
      types: ["node"],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
    };
    const settings = { compilerOptions, files: ["program.ts"] };
    writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(settings));
    copyFileSync(join(__dirname, "../support/mocks.mjs"), join(directory, "mocks.mjs"));
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    await run(process.execPath, [compiler, "-p", directory], options);
    const node = ["--import", "./mocks.mjs", join("out", "program.js")];
    const { stdout } = await run(process.execPath, node, options);

    const resources = JSON.parse(stdout) as Resource[];
    const inputs = (name: string): Resource["inputs"] => {
      const found = resources.find((one) => one.name === name);
      assert.ok(found, `${name} is not among ${resources.map((one) => one.name).join(", ")}`);
      return found.inputs;
    };
    for (const [name, texts] of Object.entries(scripts))
      for (const text of texts) {
        const script = join(root, "components", text);
        const code = removeComments(readFileSync(script, "utf8"));
        assert.ok(renderSentScript(inputs(name)).includes(code), `${name}: ${text}`);
      }
    for (const name of ["dev-network-network", "dev-workers-general-0-server"]) inputs(name);
  });

  it("provides a command line that runs from the installation directory", async () => {
    const npx = (...args: string[]) => run("npx", ["--no-install", "stackadm", ...args], options);
    const { stdout } = await npx("--help");
    assert.match(stdout, /^Usage: stackadm \[options\] \[command\]\n/);
    assert.match(stdout, /^ {2}up /m);
    assert.equal((await npx("--version")).stdout, `${manifest.version}\n`);
  });
});

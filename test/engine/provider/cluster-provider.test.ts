import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { getPackageRoot } from "../../../base/paths.js";
import { run } from "../../../base/run-command.js";
import { parseYaml, toYaml } from "../../../base/yaml.js";
import { getPackageSchema } from "../../../components/provider/package-schema.js";
import {
  startBenchFakeCluster,
  type BenchFakeCluster,
  fakeClusterHost,
} from "../../../packages/bench/support/fake-cluster.js";
import { readCodeBlocks } from "../../../packages/tools/documentation/command-blocks.js";
import { fakeProject } from "../../support/cloud/fake-openstack.js";
import { recordedState } from "../../support/engine/record-state.js";
import {
  generateSdks,
  makeYamlHost,
  preparePythonProgram,
  type LanguageProgram,
} from "../support/languages/language-programs.js";
import { succeeded, type Project, type Run } from "../support/project.js";
import { holding } from "../support/recorded.js";

const root = getPackageRoot();
const page = join("docs", "build", "languages.md");

/** Returns the program of the page in this language. */
function programIn(language: string): string {
  const blocks = readCodeBlocks(page, readFileSync(join(root, page), "utf8"));
  const [block, ...others] = blocks.filter((one) => one.language === language);
  assert.ok(block && others.length === 0, `${page} has one program in ${language}`);
  return block.text;
}

interface YamlProgram {
  readonly resources: {
    readonly dev: { readonly properties: Readonly<Record<string, unknown>> };
  };
}

const publicKey = "ssh-ed25519 AAAALOGIN";
const yamlProgram = parseYaml(programIn("yaml")) as YamlProgram;
const flavors = ["m1.medium", "m1.large"];

/** Adds the flavors of the page to the fake cloud. */
function addFlavors({ cloud }: BenchFakeCluster): void {
  const described = flavors.map((id) => ({ id, name: id, vcpus: 2, ram: 4096, disk: 20 }));
  cloud.on("GET /compute/flavors/detail", { body: { flavors: described } });
  for (const flavor of described) {
    cloud.on(`GET /compute/flavors/${flavor.id}`, { body: { flavor } });
    cloud.on(`GET /compute/flavors/${flavor.id}/os-extra_specs`, { body: { extra_specs: {} } });
  }
}

describe("a cluster in programs of other languages, on the real engine", function () {
  this.timeout(900_000);
  let directory: string;
  let living: BenchFakeCluster;
  let project: Project;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-languages-"));
    living = await startBenchFakeCluster(directory);
    addFlavors(living);
    const args = { ...yamlProgram.resources.dev.properties, name: "dev", ssh: { publicKey } };
    const flavorIds = Object.fromEntries(flavors.map((id) => [id, id]));
    const cluster = { args: args as never, cloud: { ...living.facts, flavorIds } };
    const state = await recordedState(cluster, { scripts: true, answers: living.answers });
    const places = [["project-id", fakeProject] as const, ["region-one", "one"] as const];
    const text = places.reduce(
      (all, [from, to]) => all.replaceAll(from, to),
      JSON.stringify(state),
    );
    ({ project } = await holding(JSON.parse(text) as typeof state, living.cloud));
    project.environment["OS_AUTH_URL"] = `${living.cloud.authUrl}/v3`;
    const path = [await makeYamlHost(), project.environment["PATH"]];
    project.environment["PATH"] = path.join(delimiter);
    succeeded(await project.run("config", "set", "engine:sshPublicKey", publicKey));
    await generateSdks(JSON.stringify(getPackageSchema("0.1.0")), directory);
  });
  after(async () => {
    (project as Project | undefined)?.remove();
    await living.close();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Writes Pulumi.yaml with the package of this checkout. */
  const configure = (more: Readonly<Record<string, unknown>>): void => {
    const packages = { stackadm: root };
    project.write("Pulumi.yaml", toYaml({ ...more, name: "engine", packages }));
  };

  /** Returns the URNs of the state, without the providers that the engine creates by itself. */
  const urns = async (): Promise<readonly string[]> =>
    (await project.resources())
      .filter(({ urn }) => !/::default(_|$)/.test(urn))
      .map(({ urn }) => urn)
      .sort();

  /** Runs `pulumi up` and checks that the recorded cluster is unchanged. */
  async function assertUnchanged(up: () => Promise<string>): Promise<void> {
    const earlier = await urns();
    const output = await up();
    assert.match(output, /^ *99 unchanged$/m);
    assert.doesNotMatch(output, /to (create|update|replace|delete)|created|updated|replaced/);
    const endpoint = output.match(/apiEndpoint *: "(.*)"/)?.[1];
    assert.equal(endpoint, `https://${fakeClusterHost}:6443`);
    assert.match(output, /kubeconfig *: \[secret\]/);
    assert.deepEqual(await urns(), earlier);
  }

  const runProgram = async ({ command, args, env }: LanguageProgram): Promise<string> => {
    const options = { cwd: project.directory, env: { ...project.environment, ...env } };
    return (await run(command, [...args.slice(0, 1), project.directory, ...args.slice(1)], options))
      .stdout;
  };

  it("is unchanged with the YAML program of the page", async () => {
    configure(yamlProgram as never);
    await assertUnchanged(async () => succeeded(await project.up()));
  });

  /** Returns the preview of the YAML program with other arguments. */
  const previewWith = (changes: Readonly<Record<string, unknown>>): Promise<Run> => {
    const { dev } = yamlProgram.resources;
    const properties = { ...dev.properties, ...changes };
    configure({ ...yamlProgram, outputs: {}, resources: { dev: { ...dev, properties } } });
    return project.preview();
  };

  it("keeps a secret argument secret in the preview of its change", async () => {
    const password = { "fn::secret": "canary-password" };
    const preview = await previewWith({ credential: { username: "robot", password } });
    const output = succeeded(preview);
    assert.match(output, /to (update|replace|delete)/);
    assert.ok(!`${output}${project.events()}`.includes("canary-password"));
  });

  it("refuses a secret in an argument that is stored in plain text, and names it", async () => {
    const { code, output } = await previewWith({ zones: [{ "fn::secret": "canary-zone" }] });
    assert.notEqual(code, 0);
    assert.match(output, /zones.* is a secret, but this value is stored in plain text/);
    assert.deepEqual(
      output.split("\n").filter((line) => line.includes("canary-zone")),
      [],
    );
  });

  it("is unchanged with the Python program of the page", async () => {
    configure({ runtime: "python" });
    const program = await preparePythonProgram(programIn("python"), directory);
    await assertUnchanged(() => runProgram(program));
  });
});

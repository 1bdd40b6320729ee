import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../../../components/index.js";
import { cloudAnswers } from "../cloud/cloud-answers.js";
import { withEngineUrns } from "./engine-urns.js";
import { graph, type Fields, type GraphOptions, type Row } from "../graph/graph.js";
import { providerAnswers } from "../cloud/provider-answers.js";
import { isSecret } from "../graph/secrets.js";
import type { RecordedCluster } from "./recorded-cluster.js";

/*
 * Prints the state that this release writes for a cluster, in the form of `pulumi stack export
 * --show-secrets`. The answers of the cloud are those of the tests' cloud. Record the state before
 * each release, because later releases must accept it
 * (test/engine/lifecycle/earlier-release.test.ts):
 *
 *   npx tsx test/support/engine/record-state.ts test/fixtures/state/<version>.args.json \
 *     > test/fixtures/state/<version>.json
 *
 * If a release has a second recorded cluster, its file names have a word after the version.
 */

const root = join(__dirname, "..", "..", "..");
const engineVersion = "v3.246.0";
const signature = "4dabf18193072939515e22adb298388d";
const secretMark = "1b47061264138c4ac30d75fd1eb44270";

interface Recording {
  /** Outputs that the cloud returned, by the type and the name of the resource. */
  readonly made: ReadonlyMap<string, Fields>;
  /** Whether the state keeps the text of scripts that machines received. */
  readonly scripts: boolean;
}

/** Returns answers of a cloud that also record each returned output in `made`. */
function noting(answers: GraphOptions, made: Map<string, Fields>): GraphOptions {
  const outputs = Object.entries(answers.outputs ?? {}).map(([type, answer]) => [
    type,
    (inputs: Fields, name: string) => {
      const given = answer(inputs, name);
      made.set(`${type} ${name}`, given);
      return given;
    },
  ]);
  return { ...answers, outputs: Object.fromEntries(outputs) as GraphOptions["outputs"] };
}

const common = readFileSync(join(root, "components/remote-scripts/scripts/common.sh"), "utf8");

/**
 * Removes the text of the script from the input of the script. Only the values remain. Values that
 * contain scripts become empty.
 */
const withoutScripts = (text: string): string =>
  (text.split(common)[0] ?? "").replace(/^([A-Z_]+_SCRIPT)='(?:[^']|'\\'')*'/gm, "$1=''");

/** Converts a value to the form of an export. */
function exported(value: unknown, how: Recording): unknown {
  if (typeof value === "string") return how.scripts ? value : withoutScripts(value);
  if (Array.isArray(value)) return value.map((inner) => exported(inner, how));
  if (typeof value !== "object" || value === null) return value;
  if (isSecret(value)) return secret((value as { value: unknown }).value, how);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, exported(inner, how)]),
  );
}

const secret = (value: unknown, how: Recording): Fields => ({
  [signature]: secretMark,
  plaintext: JSON.stringify(exported(value, how)),
});

function outputsOf(row: Row, how: Recording): Fields {
  const { type, inputs } = row;
  const { made } = how;
  const all: Fields = {
    ...inputs,
    ...providerAnswers[type]?.(inputs),
    ...made.get(`${type} ${row.name}`),
    ...(type.startsWith("kubernetes:") && {
      __inputs: inputs,
      __initialApiVersion: inputs["apiVersion"],
      __fieldManager: "pulumi-kubernetes",
    }),
  };
  const hide = ([key, value]: readonly [string, unknown]) => [
    key,
    row.secretOutputs.includes(key) && !isSecret(value) ? secret(value, how) : exported(value, how),
  ];
  return Object.fromEntries(Object.entries(all).map(hide)) as Fields;
}

/**
 * Returns the version of the plugin's SDK. The engine writes this version into the inputs of a
 * provider.
 */
const versionOf = (plugin: string): string => {
  const file = join(root, "node_modules", "@pulumi", plugin, "package.json");
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version.replace(/^v/, "");
};

const assetMark = "c44067f5952c0a294b673a41bacd8c17";

/** Returns the row with each file in its inputs in the form in which the engine records files. */
async function withAssets(row: Row): Promise<Row> {
  const recorded = Object.entries(row.inputs).map(async ([key, value]) => {
    if (!pulumi.asset.Asset.isInstance(value)) return [key, value] as const;
    const path = await (value as { readonly path: Promise<string> }).path;
    const hash = createHash("sha256").update(readFileSync(path)).digest("hex");
    return [key, { [signature]: assetMark, hash, path }] as const;
  });
  return { ...row, inputs: Object.fromEntries(await Promise.all(recorded)) };
}

type Resource = Fields & { readonly urn: string };

function providers(prefix: string): Resource[] {
  return ["openstack", "command"].map((name) => {
    const version = versionOf(name);
    const type = `pulumi:providers:${name}`;
    const urn = `${prefix}::${type}::default_${version.replaceAll(".", "_")}`;
    // Uses the form in which the engine writes the inputs of default providers.
    const inputs = { __internal: {}, version };
    return { urn, custom: true, id: `${name}-default`, type, inputs, outputs: { version } };
  });
}

function resource(given: Row, how: Recording, defaults: readonly Resource[]): Resource {
  const own = /^pulumi:providers:(.*)$/.exec(given.type)?.[1];
  const row = own ? { ...given, inputs: { ...given.inputs, version: versionOf(own) } } : given;
  const standard = defaults.find(({ type }) => String(type).endsWith(`:${row.type.split(":")[0]}`));
  const provider = standard ? `${standard.urn}::${String(standard["id"])}` : row.provider;
  return {
    urn: row.urn,
    custom: row.custom,
    type: row.type,
    ...(row.custom && {
      id: `${row.name}-id`,
      inputs: exported(row.inputs, how),
      outputs: outputsOf(row, how),
      ...(!own && { provider }),
    }),
    ...(row.parent !== "" && { parent: row.parent }),
    dependencies: row.dependencies,
    propertyDependencies: row.propertyDependencies,
    additionalSecretOutputs: row.secretOutputs,
    ...(row.deletedWith !== "" && { deletedWith: row.deletedWith }),
    ...(row.replaceWith.length > 0 && { replaceWith: row.replaceWith }),
    ...(row.replacementTrigger !== undefined && { replacementTrigger: row.replacementTrigger }),
  };
}

export interface RecordOptions extends Partial<Pick<Recording, "scripts">> {
  /** Answers of the cloud. @default answers of the tests' cloud */
  readonly answers?: GraphOptions;
}

/** Sorts the resources, so that each resource follows its dependencies. */
function inOrder(resources: readonly Resource[]): Resource[] {
  const byUrn = new Map(resources.map((one) => [one.urn, one]));
  const done = new Set<Resource>();
  const visit = (one: Resource): void => {
    if (done.has(one)) return;
    const needed = [
      one["parent"],
      one["deletedWith"],
      // The provider's URN is the reference in the state without the ID at the end.
      typeof one["provider"] === "string" && one["provider"].replace(/::[^:]*$/, ""),
      ...(one["dependencies"] as string[]),
    ];
    for (const urn of needed) {
      const other = byUrn.get(String(urn));
      if (other) visit(other);
    }
    done.add(one);
  };
  resources.forEach(visit);
  return [...done];
}

/**
 * Returns the state of a cluster in the form in which this release writes it. The inputs of scripts
 * keep only their values, because later releases have other script texts. With `scripts`, the
 * script texts are also kept.
 */
export async function recordedState(
  { args, cloud }: RecordedCluster,
  { scripts = false, answers = cloudAnswers }: RecordOptions = {},
): Promise<string> {
  const made = new Map<string, Fields>();
  const rows = await graph(
    () => {
      new Cluster("dev", { ...args, cloud });
    },
    { ...noting(answers, made), stack: "dev" },
  );
  const defaults = providers("urn:pulumi:dev::stackadm").map((one) => ({
    dependencies: [],
    ...one,
  }));
  const resources = inOrder([
    ...defaults,
    ...(await Promise.all(withEngineUrns(rows).map(withAssets))).map((row) =>
      resource(row, { made, scripts }, defaults),
    ),
  ]);
  const manifest = {
    time: "2026-01-01T00:00:00Z",
    magic: createHash("sha256").update(engineVersion).digest("hex"),
    version: engineVersion,
  };
  const lines = resources.map((one) => JSON.stringify(one)).join(",\n");
  const head = `{"version":3,"deployment":{"manifest":${JSON.stringify(manifest)},"resources":[`;
  return `${head}\n${lines}\n]}}\n`;
}

async function main(file: string): Promise<void> {
  process.stdout.write(
    await recordedState(JSON.parse(readFileSync(file, "utf8")) as RecordedCluster),
  );
}

const [, self, file] = process.argv;
if (self === __filename && file !== undefined)
  main(file).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  });

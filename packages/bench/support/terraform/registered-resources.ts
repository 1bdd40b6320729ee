import { randomBytes } from "node:crypto";
import { Cluster } from "../../../../components/cluster.js";
import type { ClusterSpec } from "../../../../components/config/cluster-spec.js";
import type { CloudFacts } from "../../../../components/lookup/cloud-lookup.js";
import { cloudAnswers } from "../../../../test/support/cloud/cloud-answers.js";
import {
  graph,
  type Fields,
  type GraphOptions,
  type Row,
} from "../../../../test/support/graph/graph.js";
import { revealSecrets, awaitBareOutputs, type BareOutputs } from "../bare/run-without-engine.js";
import { TerraformPlaceholders } from "./references.js";
import { getTerraformAddress, getTerraformLabel } from "./resources.js";

/** Random values of a cluster, drawn once. */
export interface RandomValues {
  /** Seed of the keys: 32 bytes in base64. */
  readonly seed: string;
  /** Identity of the cluster: 12 hexadecimal digits. */
  readonly identity: string;
}

export const drawRandomValues = (): RandomValues => ({
  seed: randomBytes(32).toString("base64"),
  identity: randomBytes(6).toString("hex"),
});

/**
 * Resources and outputs that the program registers. They contain placeholders for the values that
 * Terraform knows only during an apply.
 */
export interface RegisteredResources {
  /** Registered resources, with secrets in plain text. */
  readonly rows: readonly Row[];
  readonly references: TerraformPlaceholders;
  readonly outputs: BareOutputs;
}

/** Placeholder for the network's MTU. No cloud uses this value. */
const mtu = 1437;
const hash = `sha256:${"c0ffee11".repeat(8)}`;

/**
 * Returns the path of the file with the output of a step's script. The file is written when the
 * step is created, because Terraform's provisioners cannot return a value.
 */
export const getResultPath = (step: string): string => `results/\${${step}.id}.json`;

type Outputs = NonNullable<GraphOptions["outputs"]>;

/**
 * Returns the fake output of a script. The output of `kubeadm init` contains placeholders for the
 * values that other machines need.
 */
const scriptOutput =
  (references: TerraformPlaceholders): Outputs[string] =>
  (inputs, name) => {
    const stdout = String(
      cloudAnswers.outputs?.["command:remote:Command"]?.(inputs, name)["stdout"],
    );
    if (!name.endsWith("-init")) return { stdout };
    const of = (key: string): string =>
      `jsondecode(file("\${path.module}/${getResultPath(`terraform_data.${getTerraformLabel(name)}`)}")).${key}`;
    const facts = {
      caCertHash: references.stand(hash, of("caCertHash")),
      uid: references.stand(`ref.${name}.uid`, of("uid")),
    };
    return { stdout: JSON.stringify({ ...(JSON.parse(stdout) as Fields), ...facts }) };
  };

const answersOf = (
  references: TerraformPlaceholders,
  { seed, identity }: RandomValues,
): GraphOptions => {
  const attribute = (type: string, name: string, key: string): string =>
    `${getTerraformAddress({ type, name })}.${key}`;
  const byType: Readonly<Record<string, (type: string, name: string) => Fields>> = {
    "openstack:networking/network:Network": (type, name) => ({
      mtu: Number(references.stand(String(mtu), attribute(type, name, "mtu"))),
    }),
    "openstack:networking/port:Port": (type, name) => ({
      allFixedIps: [references.address(attribute(type, name, "all_fixed_ips[0]"))],
      macAddress: "fa:16:3e:00:00:01",
    }),
    "openstack:networking/floatingIp:FloatingIp": (type, name) => ({
      address: references.address(attribute(type, name, "address")),
    }),
    "openstack:identity/applicationCredential:ApplicationCredential": (type, name) => ({
      secret: references.stand(`ref.${name}.secret`, attribute(type, name, "secret")),
    }),
  };
  const ofCloud = Object.entries(byType).map(
    ([type, answer]) => [type, (_: Fields, name: string) => answer(type, name)] as const,
  );
  return {
    outputs: {
      ...cloudAnswers.outputs,
      ...Object.fromEntries(ofCloud),
      "command:local:Command": (_inputs, name) => ({
        stdout: name.endsWith("-identity") ? identity : seed,
      }),
      "command:remote:Command": scriptOutput(references),
    },
    ids: (name) => `ref.${name}.id`,
  };
};

/**
 * Runs the program with fake outputs for every resource. Returns the resources that the program
 * registered.
 */
export async function collectRegisteredResources(
  spec: ClusterSpec,
  cloud: CloudFacts,
  drawn: RandomValues,
): Promise<RegisteredResources> {
  const references = new TerraformPlaceholders();
  let cluster: Cluster | undefined;
  const all = await graph(
    () => (cluster = new Cluster(spec.name, { ...spec, cloud })),
    answersOf(references, drawn),
  );
  if (!cluster) throw new Error("The program made no cluster.");
  const rows = all.map((row) => ({ ...row, inputs: revealSecrets(row.inputs) as Fields }));
  for (const row of rows.filter(({ type }) => type.startsWith("openstack:")))
    references.stand(`ref.${row.name}.id`, `${getTerraformAddress(row)}.id`);
  return { rows, references, outputs: await awaitBareOutputs(cluster) };
}

import type { Fields, Row } from "../../../../test/support/graph/graph.js";
import type { SshHop } from "../bare/run-without-engine.js";
import type { RandomValues, RegisteredResources } from "./registered-resources.js";
import { getTerraformAddress, getTerraformLabel, getTerraformResource } from "./resources.js";
import {
  getDeletionResource,
  getApplyObjectsResource,
  getCreationResource,
  type ScriptResourceContext,
  type TerraformFiles,
} from "./script-resources.js";
import { terraformProvider } from "./tools.js";

export interface TerraformConfigurationOptions {
  /**
   * Whether each step waits until the previous step is done on all machines, as with `count` and
   * `for_each`.
   * @default each machine continues on its own, which is faster for Terraform
   */
  readonly stages?: boolean;
}

const isCloud = ({ type }: Row): boolean => type.startsWith("openstack:");
const isObject = ({ type }: Row): boolean => type.startsWith("kubernetes:");
const isScript = ({ type }: Row): boolean => type === "command:remote:Command";
const isCopy = ({ type }: Row): boolean => type === "command:remote:CopyToRemote";
const isStep = (row: Row): boolean => isScript(row) && "create" in row.inputs;
/**
 * Returns whether the row is the teardown script, which deletes the cloud objects that the cluster
 * itself created. A destroy does not need the scripts that drain single machines.
 */
const isTeardownScript = ({ name, ...row }: Row): boolean =>
  isScript({ name, ...row }) && name.endsWith("-teardown");

const isRule = ({ type }: Row): boolean => type.endsWith(":SecGroupRule");

const is =
  (role: string) =>
  ({ name }: Row): boolean =>
    name.endsWith(`-${role}`);

const objectsAddress = "terraform_data.objects";

/** Returns the Terraform address of a row's resource, or undefined if the row has none. */
function nameOf(row: Row): string | undefined {
  if (isCloud(row)) return getTerraformAddress(row);
  if (isObject(row)) return objectsAddress;
  return isStep(row) || isTeardownScript(row)
    ? `terraform_data.${getTerraformLabel(row.name)}`
    : undefined;
}

/** Dependencies of each registered resource. */
class ResourceOrder {
  readonly #byUrn: ReadonlyMap<string, Row>;

  constructor(
    private readonly rows: readonly Row[],
    private readonly stages: boolean,
  ) {
    this.#byUrn = new Map(rows.map((row) => [row.urn, row]));
  }

  before(row: Row): readonly string[] {
    const own = this.#needs(row);
    // The teardown script needs all machines and the firewall rules between them. Terraform
    // destroys a resource before its dependencies. So the script depends on every join and every
    // rule.
    if (isTeardownScript(row))
      return names([...own, ...this.rows.filter((one) => is("join")(one) || isRule(one))]);
    return names(this.stages && isStep(row) ? [...own, ...this.#stage(row)] : own);
  }

  /**
   * Returns the rows on which a row depends. Replaces a copy of scripts by the copy's own
   * dependencies, because Terraform's steps send the script text themselves.
   */
  #needs(row: Row): readonly Row[] {
    const own = row.dependencies.flatMap((urn) => this.#byUrn.get(urn) ?? []);
    return own.flatMap((one) => (isCopy(one) ? this.#needs(one) : one));
  }

  /** Returns the rows that must be done on all machines before this row. */
  #stage(row: Row): readonly Row[] {
    const steps = this.rows.filter(isStep);
    if (is("prepare")(row)) return this.rows.filter(({ type }) => type.endsWith(":Instance"));
    return is("init")(row) || is("join")(row) ? steps.filter(is("prepare")) : [];
  }

  /**
   * Returns the dependencies of the Kubernetes objects: the cluster's API and, with stages, all
   * nodes.
   */
  beforeObjects(): readonly string[] {
    return names(this.rows.filter((row) => is("init")(row) || (this.stages && is("join")(row))));
  }
}

const names = (rows: readonly Row[]): readonly string[] => [
  ...new Set(rows.flatMap((row) => nameOf(row) ?? [])),
];

/** Returns the Kubernetes objects in an order in which all namespaces come first. */
const inOrder = (objects: readonly Fields[]): readonly Fields[] => [
  ...objects.filter(({ kind }) => kind === "Namespace"),
  ...objects.filter(({ kind }) => kind !== "Namespace"),
];

function resourcesOf(
  { rows, references }: RegisteredResources,
  bench: ScriptResourceContext,
  order: ResourceOrder,
): Fields {
  const init = rows.find((row) => isStep(row) && is("init")(row));
  if (!init) throw new Error("No row makes the cluster.");
  const found = rows.flatMap((row): (readonly [string, unknown])[] => {
    const name = nameOf(row);
    if (name === undefined || isObject(row)) return [];
    const what = isCloud(row)
      ? (references.render(getTerraformResource(row)) as Fields)
      : isStep(row)
        ? getCreationResource(row, bench)
        : getDeletionResource(row, bench);
    return [[name, { ...what, depends_on: order.before(row) }]];
  });
  const objects = {
    ...getApplyObjectsResource(init.inputs["connection"] as SshHop, bench),
    depends_on: order.beforeObjects(),
  };
  return grouped([...found, [objectsAddress, objects]]);
}

/**
 * Returns the resources in the nesting of Terraform's JSON: by type, then by label. The input has
 * keys of the form `type.label`.
 */
function grouped(all: readonly (readonly [string, unknown])[]): Fields {
  const types: Record<string, Record<string, unknown>> = {};
  for (const [name, what] of all) {
    const [type = "", label = ""] = name.split(".");
    if (types[type]?.[label] !== undefined) throw new Error(`${name} is there twice.`);
    types[type] = { ...types[type], [label]: what };
  }
  return types;
}

/**
 * Returns the Terraform configuration of the resources that the program registers: `main.tf.json`
 * and the files next to it.
 */
export function renderTerraformConfiguration(
  made: RegisteredResources,
  drawn: RandomValues,
  { stages = false }: TerraformConfigurationOptions = {},
): TerraformFiles {
  const { rows, references, outputs } = made;
  const files: TerraformFiles = new Map();
  const order = new ResourceOrder(rows, stages);
  const items = inOrder(rows.filter(isObject).map(({ inputs }) => inputs));
  const main = {
    terraform: {
      required_providers: {
        openstack: {
          source: `${terraformProvider.host}/${terraformProvider.path}`,
          version: terraformProvider.version,
        },
      },
    },
    // The environment variables (`OS_*`) contain all settings of the provider.
    provider: { openstack: {} },
    locals: {
      objects: references.template(JSON.stringify({ apiVersion: "v1", kind: "List", items })),
    },
    resource: resourcesOf(made, { references, drawn, files }, order),
    output: {
      // Leaves out the kubeconfig, because it exists only in a file that a provisioner wrote.
      cluster: {
        value: references.render({ ...outputs, kubeconfig: undefined }),
        sensitive: true,
      },
    },
  };
  return files.set("main.tf.json", `${JSON.stringify(main, undefined, 1)}\n`);
}

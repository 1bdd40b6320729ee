import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { getCachePath } from "../../../../base/paths.js";
import { silentProgress } from "../../../../base/progress.js";
import { makeWithGo, type GoBuild } from "../../../toolchain/make.js";

/**
 * Address of the provider. Terraform never contacts the host, because a mirror on this machine
 * contains the provider.
 */
export const terraformProvider = {
  host: "bench.stackadm.example",
  path: "terraform-provider-openstack/openstack",
  version: "1.54.1",
} as const;

const cli: GoBuild = {
  name: "terraform",
  version: "1.11.4",
  sources: [join(__dirname, "cli")],
  package: "github.com/hashicorp/terraform",
  ldflags: "-s -w -X github.com/hashicorp/terraform/version.dev=no",
  expectedSeconds: 600,
};

/**
 * Build of the Terraform provider, in the version on which the toolchain's Pulumi plugin is based.
 */
const plugin: GoBuild = {
  name: "terraform-provider-openstack",
  version: terraformProvider.version,
  sources: [join(__dirname, "provider")],
  package: `github.com/${terraformProvider.path.split("/")[0] ?? ""}/terraform-provider-openstack`,
  ldflags: "-s -w",
  expectedSeconds: 120,
};

/** Versions of Terraform and its provider, for records. */
export const terraformVersions = {
  [cli.name]: cli.version,
  [plugin.name]: plugin.version,
};

export interface TerraformTools {
  readonly executable: string;
  /** Variables that make `terraform` use the mirror and contact no registry. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Builds Terraform and its OpenStack provider if they are not in the cache. Creates a mirror in
 * `directory` from which `terraform init` installs the provider.
 */
export async function buildTerraformTools(directory: string): Promise<TerraformTools> {
  const cache = getCachePath("test-tools");
  mkdirSync(cache, { recursive: true });
  const executable = await makeWithGo(cli, { cache, progress: silentProgress });
  const built = await makeWithGo(plugin, { cache, progress: silentProgress });
  const { host, path, version } = terraformProvider;
  const target = `linux_${arch() === "x64" ? "amd64" : arch()}`;
  const mirror = join(directory, "mirror");
  const place = join(mirror, host, path, version, target);
  mkdirSync(place, { recursive: true });
  const link = join(place, `${plugin.name}_v${version}`);
  rmSync(link, { force: true });
  symlinkSync(built, link);
  const settings = join(directory, "terraformrc");
  writeFileSync(
    settings,
    `disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = "${mirror}"\n  }\n}\n`,
  );
  return { executable, environment: { TF_CLI_CONFIG_FILE: settings, TF_IN_AUTOMATION: "1" } };
}

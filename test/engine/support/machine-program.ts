import { join } from "node:path";
import { getPackageRoot } from "../../../base/paths.js";

/** Returns an import of names from a file of components/. */
export const importOf = (names: string, file: string): string =>
  `import { ${names} } from ${JSON.stringify(join(getPackageRoot(), "components", file))};`;

/** Parts of a program around the machine. */
export interface Around {
  readonly networkId: string;
  /** Lines before the program. @default none */
  readonly imports?: string;
  /** Lines of the program before the machine. @default none */
  readonly before?: string;
  /** Expression of the known failed machines. @default none */
  readonly failed?: string;
}

/**
 * Returns a program with a cluster that has only the machine `dev-general-0`. Its output is the
 * server's ID.
 */
export const machineProgram = ({
  networkId,
  imports = "",
  before = "",
  failed = "new UnreachableServers(undefined, {})",
}: Around): string => `
import { ComponentResource, output } from "@pulumi/pulumi";
${importOf("Machine", "machine/machine.ts")}
${importOf("UnreachableServers", "lifecycle/unreachable-servers.ts")}
${imports}

export = async () => {
  ${before}
  const parent = new ComponentResource("stackadm:index:Cluster", "dev");
  const { serverId } = new Machine("dev-general-0", {
    mark: { name: "dev", identity: "0123456789ab" },
    plan: {
      ...{ name: "dev-general-0", role: "worker", pool: "general", position: 0 },
      ...{ flavor: "f", image: "i", generation: 0 },
      ...{ tags: [], metadata: {}, schedulerHints: {}, volumes: [], cloudInit: [] },
    },
    generation: 0,
    objects: { imageId: () => output("image"), flavorId: () => output("flavor") },
    ...{ networkId: ${JSON.stringify(networkId)}, subnetId: "subnet", securityGroupIds: ["group"] },
    ...{ routedRanges: [], routesOfCloud: false, portSecurity: true, allowedAddresses: [] },
    login: { user: "debian", publicKey: "ssh-ed25519 AAAA" },
    seed: Buffer.alloc(32, "s").toString("base64"),
    failed: ${failed},
  }, { parent });
  return { server: serverId };
};
`;

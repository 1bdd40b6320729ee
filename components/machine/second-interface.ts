import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What the guest has to know of its interface in the admin network. */
export interface SecondInterface {
  /** MAC address of the port, in lower case. */
  readonly mac: string;
  readonly address: string;
  /** Range of the subnet. */
  readonly range: string;
  /** Bytes. */
  readonly mtu: number;
  /** Absent: nobody outside the subnet is answered. */
  readonly gateway?: string | undefined;
}

const script = readFileSync(join(__dirname, "scripts/second-interface.sh"), "utf8");

/** The command that configures it, for cloud-init at each boot. */
export const secondInterfaceCommand = ({
  mac,
  address,
  range,
  mtu,
  gateway,
}: SecondInterface): readonly string[] => [
  ...["bash", "-c", script, "stackadm-admin", mac, `${address}/${range.split("/")[1] ?? "32"}`],
  ...[range, String(mtu), ...(gateway === undefined ? [] : [gateway])],
];

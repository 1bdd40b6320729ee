import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Settings of a machine's second interface. */
export interface SecondInterface {
  /** MAC address of the port, in lower case. */
  readonly mac: string;
  readonly address: string;
  /** CIDR of the subnet. */
  readonly range: string;
  /** MTU in bytes. */
  readonly mtu: number;
  /** Gateway of the subnet. Undefined if the machine shall answer only clients in the subnet. */
  readonly gateway?: string | undefined;
}

const script = readFileSync(join(__dirname, "scripts/second-interface.sh"), "utf8");

/** Returns the command that configures the interface. cloud-init runs this command at each boot. */
export const renderSecondInterfaceCommand = ({
  mac,
  address,
  range,
  mtu,
  gateway,
}: SecondInterface): readonly string[] => [
  ...["bash", "-c", script, "stackadm-admin", mac, `${address}/${range.split("/")[1] ?? "32"}`],
  ...[range, String(mtu), ...(gateway === undefined ? [] : [gateway])],
];

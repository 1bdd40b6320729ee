import * as pulumi from "@pulumi/pulumi";
import { deriveJoinKey } from "../identity/join-certificate.js";
import { roleTable } from "../config/roles.js";
import type { RemoteScriptArgs } from "../remote-scripts/remote-script.js";
import type { CommonMachineSettings } from "./machine.js";
import type { MachineGroupMember } from "./machine-group.js";

/**
 * Returns the variables of scripts/request-join-credentials.sh for the machine `member`. This
 * machine may request its credentials from any other control plane.
 */
export function getJoinRequestValues(
  { plan, machine }: MachineGroupMember,
  controlPlanes: readonly MachineGroupMember[],
  { seed }: Pick<CommonMachineSettings, "seed">,
): RemoteScriptArgs["values"] {
  const peers = controlPlanes
    .filter((one) => one.machine !== machine)
    .map((one) => pulumi.interpolate`${one.machine.address} ${one.machine.hostKey}`);
  const key = pulumi
    .all([seed, machine.serverId, machine.address])
    .apply(([text, serverId, address]) =>
      deriveJoinKey(text, {
        grant: roleTable[plan.role].grant,
        machine: plan.name,
        serverId,
        address,
      }),
    );
  return {
    PEERS: pulumi.all(peers).apply((lines) => lines.join("\n")),
    JOIN_PRIVATE_KEY: key.privateKey,
    JOIN_CERTIFICATE: pulumi.unsecret(key.certificate),
  };
}

import type { SshConnection } from "../remote-scripts/remote-script.js";
import type { Machine } from "./machine.js";

/**
 * Source of SSH connections to machines. Only implementations in access/ know the proxy machine of
 * each machine.
 */
export interface MachineConnections {
  connectionTo(machine: Machine): SshConnection;
}

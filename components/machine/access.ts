import type { Connection } from "../support/remote-script.js";
import type { Machine } from "./machine.js";

/** Source of SSH connections to machines. Only access/ knows through which machines they lead. */
export interface Access {
  route(machine: Machine): Connection;
}

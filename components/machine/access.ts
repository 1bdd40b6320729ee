import type { Connection } from "../support/remote-script.js";
import type { Machine } from "./machine.js";

/** The way to a machine over SSH. Only access/ knows through which machines it leads. */
export interface Access {
  route(machine: Machine): Connection;
}

import type * as pulumi from "@pulumi/pulumi";
import type { Connection } from "../support/remote-script.js";
import type { Machine } from "./machine.js";

/** The way to a machine over SSH. Only access/ knows through which machines it leads. */
export interface Access {
  route(machine: Machine): Connection;
  /** Host under which a machine is reached from outside; undefined for one that is reached through another. */
  hostOf(machine: Machine): pulumi.Output<string> | undefined;
}

import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { credentialDescription, nameInCloud } from "../../cloud/ownership.js";
import { Component } from "../support/component.js";
import type { CloudScope } from "../support/catalog.js";
import type { ClusterMarkInput } from "./cluster-mark.js";

export interface ApplicationCredentialArgs {
  readonly mark: ClusterMarkInput;
  readonly scope: pulumi.Input<CloudScope>;
}

/** With what the cluster's controllers work in the cloud. */
export interface CloudCredential {
  readonly id: pulumi.Input<string>;
  readonly secret: pulumi.Input<string>;
}

/** Roles that cloud controller manager and Cinder CSI need, as far as the operator has them. */
const needed = ["member", "load-balancer_member"];

/** What the cluster itself may do in the cloud: never the operator's own credential. */
export class ApplicationCredential extends Component implements CloudCredential {
  static readonly type = "stackadm:identity:ApplicationCredential";
  readonly id: pulumi.Output<string>;
  readonly secret: pulumi.Output<string>;

  constructor(
    name: string,
    args: ApplicationCredentialArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(ApplicationCredential.type, name, opts);
    const roles = pulumi.output(args.scope).apply((scope) => {
      const held = scope.roles.filter((role) => needed.includes(role));
      // A cloud with other names for these roles: Keystone then takes all roles of the operator's token.
      return held.length > 0 ? held : scope.roles;
    });
    const mark = pulumi.output(args.mark);
    const credential = this.make(
      openstack.identity.ApplicationCredential,
      "credential",
      {
        name: mark.apply(nameInCloud),
        description: mark.apply(credentialDescription),
        roles,
        unrestricted: false,
      },
      // Any change replaces a credential, which cuts a living cluster off: not for roles of the operator that change
      // order or grow, nor for a name of an earlier release.
      { deleteBeforeReplace: true, ignoreChanges: ["name", "description", "roles"] },
    );
    this.id = credential.id;
    this.secret = pulumi.secret(credential.secret);
    this.registerOutputs({ id: this.id, secret: this.secret });
  }
}

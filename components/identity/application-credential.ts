import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { credentialDescription } from "../../cloud/ownership.js";
import { Component } from "../support/component.js";
import type { CloudScope } from "../support/catalog.js";

export interface ApplicationCredentialArgs {
  readonly clusterName: string;
  readonly scope: pulumi.Input<CloudScope>;
}

/** Roles that cloud controller manager and Cinder CSI need, as far as the operator has them. */
const needed = ["member", "load-balancer_member"];

/** What the cluster itself may do in the cloud: never the operator's own credential. */
export class ApplicationCredential extends Component {
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
    const credential = this.make(
      openstack.identity.ApplicationCredential,
      "credential",
      {
        name: args.clusterName,
        description: credentialDescription(args.clusterName),
        roles,
        unrestricted: false,
      },
      // The name is unique per user, so a new one needs the old one gone. The operator's roles may change order or
      // grow without a reason to cut the cluster off.
      { deleteBeforeReplace: true, ignoreChanges: ["roles"] },
    );
    this.id = credential.id;
    this.secret = pulumi.secret(credential.secret);
    this.registerOutputs({ id: this.id, secret: this.secret });
  }
}

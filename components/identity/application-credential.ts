import { createHash } from "node:crypto";
import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { accessRulesOf, type AccessRule } from "../../cloud/access-rules.js";
import { rolesOf } from "../../cloud/cluster-credential.js";
import { credentialDescription, nameInCloud } from "../../cloud/ownership.js";
import { Component } from "../support/component.js";
import type { CloudScope } from "../../cloud/scope.js";
import { routedByCloud } from "../pod-network/kinds.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import { certificateIn } from "../spec/certificates.js";
import { loginWith, type CloudLogin } from "./cloud-login.js";
import type { ClusterMarkInput } from "./cluster-mark.js";

export interface ApplicationCredentialArgs {
  readonly mark: ClusterMarkInput;
  readonly scope: pulumi.Input<CloudScope>;
  /** What is wanted of it. Change of the generation, the end or the rules: another one is made, and the former one deleted last. */
  readonly spec: Pick<ClusterSpec, "credential" | "loadBalancer" | "podNetwork" | "sampleServices">;
}

type Wanted = NonNullable<ClusterSpec["credential"]>;

/**
 * What tells a credential from the one before. It is another resource, so the engine makes it first, then changes what has it,
 * and deletes the former one last; where something failed on the way, that stays.
 */
const suffixOf = ({ generation = 0, expiresAt }: Wanted, rules?: readonly AccessRule[]): string =>
  [
    ...(generation > 0 ? [`-${String(generation)}`] : []),
    ...(expiresAt === undefined ? [] : [`-${expiresAt.replaceAll(":", "-")}`]),
    ...(rules ? [`-rules-${digestOf(rules)}`] : []),
  ].join("");

const digestOf = (rules: readonly AccessRule[]): string =>
  createHash("sha256").update(JSON.stringify(rules)).digest("hex").slice(0, 8);

/** What the cluster itself may do in the cloud: never the operator's own credential. */
export class ApplicationCredential extends Component {
  static readonly type = "stackadm:identity:ApplicationCredential";
  readonly id: pulumi.Output<string>;
  readonly secret: pulumi.Output<string>;
  /** The same for who signs in with it. */
  readonly login: pulumi.Output<CloudLogin>;

  constructor(
    name: string,
    args: ApplicationCredentialArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(ApplicationCredential.type, name, opts);
    const { credential: wanted = {}, podNetwork } = args.spec;
    const needs = { credentialRoles: wanted.roles, certificate: certificateIn(args.spec) };
    const accessRules =
      wanted.accessRules &&
      accessRulesOf(wanted.accessRules, {
        routes: routedByCloud(podNetwork),
        certificates: needs.certificate !== undefined,
      });
    const suffix = suffixOf(wanted, accessRules);
    const roles = pulumi.output(args.scope).apply(({ roles: held }) => {
      const given = rolesOf(held, needs);
      // Never all roles. The questions to the cloud say that none is known; without them Keystone refuses this one, and a
      // credential that lives keeps those it has.
      return given.length > 0 ? [...given] : ["member"];
    });
    const mark = pulumi.output(args.mark);
    const credential = this.make(
      openstack.identity.ApplicationCredential,
      `credential${suffix}`,
      {
        // Keystone has a name only once.
        name: mark.apply((one) => nameInCloud(one) + suffix),
        description: mark.apply(credentialDescription),
        roles,
        unrestricted: false,
        ...(wanted.expiresAt !== undefined && { expiresAt: wanted.expiresAt }),
        ...(accessRules && { accessRules }),
      },
      // Any change replaces a credential, which cuts a living cluster off: not for roles of the operator that change
      // order or grow, nor for a name of an earlier release.
      { deleteBeforeReplace: true, ignoreChanges: ["name", "description", "roles"] },
    );
    this.id = credential.id;
    this.secret = pulumi.secret(credential.secret);
    this.login = loginWith(this.id, this.secret);
    this.registerOutputs({ id: this.id, secret: this.secret });
  }
}

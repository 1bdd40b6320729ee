import { createHash } from "node:crypto";
import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { listAccessRules, type AccessRule } from "../../openstack/auth/access-rules.js";
import { selectCredentialRoles } from "../../openstack/checks/cluster-credential-check.js";
import { getCredentialDescription, getNameInCloud } from "../../openstack/inventory/ownership.js";
import { Component } from "../pulumi/component.js";
import type { CloudScope } from "../../openstack/auth/token-scope.js";
import { isRoutedByCloud } from "../pod-network/pod-network-kinds.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import { findBarbicanCertificatePath } from "../config/load-balancing/barbican-certificate-path.js";
import { buildApplicationCredentialLogin, type CloudLogin } from "./cloud-login.js";
import type { ClusterMarkInput } from "./resource-tags.js";

export interface ApplicationCredentialArgs {
  readonly mark: ClusterMarkInput;
  readonly scope: pulumi.Input<CloudScope>;
  /**
   * Settings of the credential. If `generation`, `expiresAt` or the set of access rules changes,
   * the program creates a new credential and deletes the old credential last.
   */
  readonly spec: Pick<ClusterSpec, "credential" | "loadBalancer" | "podNetwork" | "sampleServices">;
}

type Wanted = NonNullable<ClusterSpec["credential"]>;

/**
 * Returns the suffix of the credential's resource name, which depends on `generation`, `expiresAt`
 * and the access rules. With a new suffix, the engine creates a new credential, then updates the
 * resources that use the credential, and deletes the old credential last. If a step fails, the old
 * credential still exists.
 */
const suffixOf = ({ generation = 0, expiresAt }: Wanted, rules?: readonly AccessRule[]): string =>
  [
    ...(generation > 0 ? [`-${String(generation)}`] : []),
    ...(expiresAt === undefined ? [] : [`-${expiresAt.replaceAll(":", "-")}`]),
    ...(rules ? [`-rules-${digestOf(rules)}`] : []),
  ].join("");

const digestOf = (rules: readonly AccessRule[]): string =>
  createHash("sha256").update(JSON.stringify(rules)).digest("hex").slice(0, 8);

/**
 * Application credential of the cluster's controllers. The controllers never use the operator's own
 * login.
 */
export class ApplicationCredential extends Component {
  static readonly type = "stackadm:identity:ApplicationCredential";
  readonly id: pulumi.Output<string>;
  readonly secret: pulumi.Output<string>;
  /** Login with the credential's ID and secret, for cloud.conf. */
  readonly login: pulumi.Output<CloudLogin>;

  constructor(
    name: string,
    args: ApplicationCredentialArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(ApplicationCredential.type, name, opts);
    const { credential: wanted = {}, podNetwork } = args.spec;
    const needs = {
      credentialRoles: wanted.roles,
      certificate: findBarbicanCertificatePath(args.spec),
    };
    const accessRules =
      wanted.accessRules &&
      listAccessRules(wanted.accessRules, {
        routes: isRoutedByCloud(podNetwork),
        certificates: needs.certificate !== undefined,
      });
    const suffix = suffixOf(wanted, accessRules);
    const roles = pulumi.output(args.scope).apply(({ roles: userRoles }) => {
      const given = selectCredentialRoles(userRoles, needs);
      // Keystone gives a credential without roles all roles of the user, so the list must not be
      // empty. If the user has no suitable role, the preflight reports an error. Without the
      // preflight, Keystone refuses the role `member`. An existing credential keeps its roles.
      return given.length > 0 ? [...given] : ["member"];
    });
    const mark = pulumi.output(args.mark);
    const credential = this.make(
      openstack.identity.ApplicationCredential,
      `credential${suffix}`,
      {
        // In Keystone, the names of a user's application credentials must be unique.
        name: mark.apply((one) => getNameInCloud(one) + suffix),
        description: mark.apply(getCredentialDescription),
        roles,
        unrestricted: false,
        ...(wanted.expiresAt !== undefined && { expiresAt: wanted.expiresAt }),
        ...(accessRules && { accessRules }),
      },
      // A change of any argument would replace the credential, and this interrupts a running
      // cluster. Changes of the operator's roles, and of names that another release chooses, are
      // therefore ignored.
      { deleteBeforeReplace: true, ignoreChanges: ["name", "description", "roles"] },
    );
    this.id = credential.id;
    this.secret = pulumi.secret(credential.secret);
    this.login = buildApplicationCredentialLogin(this.id, this.secret);
    this.registerOutputs({ id: this.id, secret: this.secret });
  }
}

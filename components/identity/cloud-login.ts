import { scryptSync } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { defaultDomain } from "../../openstack/checks/service-user-check.js";
import type { CloudScope } from "../../openstack/auth/token-scope.js";
import type { ClusterSpec } from "../config/cluster-spec.js";

/**
 * Login of the cluster's controllers to OpenStack. The names of the fields are keys of cloud.conf,
 * which the cloud controller and Cinder CSI read. Source: the `gcfg` tags of `AuthOpts` in
 * pkg/client/client.go of cloud-provider-openstack 1.36.
 */
export type CloudLogin = CredentialLogin | UserLogin;

interface CredentialLogin {
  readonly applicationCredentialId: string;
  readonly applicationCredentialSecret: string;
}

type UserLogin = UserName & {
  readonly password: string;
  /**
   * ID of the project. A user may have several projects, so the login must name the project. An
   * application credential belongs to only one project.
   */
  readonly tenantId: string;
};

/**
 * User, given by name and domain, or by ID. The controllers refuse an ID together with a domain.
 */
type UserName =
  { readonly username: string; readonly userDomainName: string } | { readonly userId: string };

/** Returns the login with an application credential. */
export const buildApplicationCredentialLogin = (
  id: pulumi.Input<string>,
  secret: pulumi.Input<string>,
): pulumi.Output<CloudLogin> =>
  pulumi.output({
    applicationCredentialId: id,
    applicationCredentialSecret: pulumi.secret(secret),
  });

/**
 * Returns the login in the settings. Returns undefined if the settings contain none, because then
 * the program creates an application credential.
 */
export function getSuppliedLogin(
  { credential = {} }: Pick<ClusterSpec, "credential">,
  scope: pulumi.Output<CloudScope>,
): pulumi.Output<CloudLogin> | undefined {
  const {
    id,
    secret,
    username = "",
    userDomainName = defaultDomain,
    userId,
    password,
  } = credential;
  if (id !== undefined && secret !== undefined) return buildApplicationCredentialLogin(id, secret);
  if (password === undefined) return undefined;
  const name = userId === undefined ? { username, userDomainName } : { userId };
  return pulumi.output({
    ...name,
    password: pulumi.secret(password),
    tenantId: scope.projectId,
  });
}

/**
 * Returns the login with a hash in the place of a password. A digest of the result can be public. A
 * user may have chosen a weak password, so the hash is slow: each guess takes a tenth of a second.
 * The secret of an application credential is not hashed, because it is long and random.
 */
export const hashLoginPassword = (login: CloudLogin): CloudLogin =>
  "password" in login
    ? { ...login, password: scryptSync(login.password, login.tenantId, 32, cost).toString("hex") }
    : login;

const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 };

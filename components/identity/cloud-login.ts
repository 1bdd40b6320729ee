import { scryptSync } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { usualDomain } from "../../cloud/service-user.js";
import type { CloudScope } from "../../cloud/scope.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";

/**
 * With what the cluster's controllers sign in to the cloud, by the names that cloud.conf has for it: the `gcfg` tags of `AuthOpts` in
 * pkg/client/client.go of cloud-provider-openstack 1.36, by which cloud controller and Cinder CSI read the same file.
 */
export type CloudLogin = CredentialLogin | UserLogin;

interface CredentialLogin {
  readonly applicationCredentialId: string;
  readonly applicationCredentialSecret: string;
}

type UserLogin = UserName & {
  readonly password: string;
  /** The project: an application credential has its own, a user may have several. */
  readonly tenantId: string;
};

/** A name is one only in its domain; beside an ID the controllers refuse a domain. */
type UserName =
  { readonly username: string; readonly userDomainName: string } | { readonly userId: string };

/** The login with an application credential. */
export const loginWith = (
  id: pulumi.Input<string>,
  secret: pulumi.Input<string>,
): pulumi.Output<CloudLogin> =>
  pulumi.output({
    applicationCredentialId: id,
    applicationCredentialSecret: pulumi.secret(secret),
  });

/** The login that is supplied; undefined where the program makes a credential. */
export function suppliedLogin(
  { credential = {} }: Pick<ClusterSpec, "credential">,
  scope: pulumi.Output<CloudScope>,
): pulumi.Output<CloudLogin> | undefined {
  const { id, secret, username = "", userDomainName = usualDomain, userId, password } = credential;
  if (id !== undefined && secret !== undefined) return loginWith(id, secret);
  if (password === undefined) return undefined;
  const name = userId === undefined ? { username, userDomainName } : { userId };
  return pulumi.output({
    ...name,
    ...{ password: pulumi.secret(password), tenantId: scope.projectId },
  });
}

/**
 * The same for a digest that others may read: a person may have chosen the password, and for whoever tries to find it by its digest each
 * guess costs a tenth of a second. The secret of an application credential is long and random.
 */
export const unguessable = (login: CloudLogin): CloudLogin =>
  "password" in login
    ? { ...login, password: scryptSync(login.password, login.tenantId, 32, cost).toString("hex") }
    : login;

const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 };

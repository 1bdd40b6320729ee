import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  ServiceAccount,
} from "./kubernetes-types.js";

/** Namespace of the components that a cluster needs to work. */
export const systemNamespace = "kube-system";

/** Service account with its cluster-wide and its namespaced RBAC objects. */
export interface RbacObjects {
  readonly serviceAccount: ServiceAccount;
  readonly clusterRole: ClusterRole;
  readonly clusterRoleBinding: ClusterRoleBinding;
  /** RBAC objects in the account's namespace. Undefined if the ClusterRole suffices. */
  readonly namespaced?: { readonly role: Role; readonly roleBinding: RoleBinding };
}

/** Permissions of a service account: only those that the account needs. */
export interface RbacRights {
  readonly account: string;
  /** Namespace of the account. @default kube-system */
  readonly home?: string;
  /** Name of the ClusterRole. @default the account's name */
  readonly clusterRole?: string;
  readonly cluster: readonly PolicyRule[];
  readonly namespace?: readonly PolicyRule[];
}

const rbac = "rbac.authorization.k8s.io/v1";
const rbacGroup = "rbac.authorization.k8s.io";

/** Returns a service account and the RBAC objects that grant its permissions. */
export function buildRbacObjects(needs: RbacRights): RbacObjects {
  const roleName = needs.clusterRole ?? needs.account;
  const metadata = { name: needs.account, namespace: needs.home ?? systemNamespace };
  const subjects = [{ kind: "ServiceAccount", ...metadata }];
  return {
    serviceAccount: { apiVersion: "v1", kind: "ServiceAccount", metadata },
    clusterRole: {
      apiVersion: rbac,
      kind: "ClusterRole",
      metadata: { name: roleName },
      rules: [...needs.cluster],
    },
    clusterRoleBinding: {
      apiVersion: rbac,
      kind: "ClusterRoleBinding",
      metadata: { name: roleName },
      roleRef: { apiGroup: rbacGroup, kind: "ClusterRole", name: roleName },
      subjects,
    },
    ...(needs.namespace === undefined
      ? {}
      : {
          namespaced: {
            role: { apiVersion: rbac, kind: "Role", metadata, rules: [...needs.namespace] },
            roleBinding: {
              apiVersion: rbac,
              kind: "RoleBinding",
              metadata,
              roleRef: { apiGroup: rbacGroup, kind: "Role", name: needs.account },
              subjects,
            },
          },
        }),
  };
}

/** Returns a rule for one API group. `""` is the core group. */
export function buildRbacRule(apiGroup: string, resources: string[], verbs: string[]) {
  return { apiGroups: [apiGroup], resources, verbs } satisfies PolicyRule;
}

/** Verbs of a client that watches resources. */
export const watchVerbs: string[] = ["get", "list", "watch"];

/**
 * Times of leader election, in seconds. On shared storage, a slow disk can block etcd for ten
 * seconds. With client-go's defaults (lease 15, renew 10), every controller would then restart.
 */
export const leaderElectionTimes = { lease: 45, renew: 30, retry: 5 };

/** Rule for leader election with a lease in the account's namespace (client-go leaderelection). */
export const leaderElectionRule = buildRbacRule(
  "coordination.k8s.io",
  ["leases"],
  ["get", "create", "update", "patch"],
);

/**
 * Rule for writing events. A controller writes events to many namespaces, so this rule belongs to a
 * ClusterRole.
 */
export const writeEventsRule = buildRbacRule("", ["events"], ["create", "patch", "update"]);

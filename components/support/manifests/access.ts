/** Service accounts and the least that each may do, as one set of objects per add-on (pure). */
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  ServiceAccount,
} from "../kubernetes-types.js";

/** Namespace of everything that makes a cluster work. */
export const systemNamespace = "kube-system";

/** A service account with what it may do cluster-wide and in its own namespace. */
export interface Access {
  readonly serviceAccount: ServiceAccount;
  readonly clusterRole: ClusterRole;
  readonly clusterRoleBinding: ClusterRoleBinding;
  /** Absent when the account needs nothing in its namespace beyond the cluster role. */
  readonly namespaced?: { readonly role: Role; readonly roleBinding: RoleBinding };
}

/** What an account needs. */
export interface AccessNeeds {
  readonly account: string;
  /** Namespace of the account. @default kube-system */
  readonly home?: string;
  /** Name of the cluster role. @default the account's name */
  readonly clusterRole?: string;
  readonly cluster: readonly PolicyRule[];
  readonly namespace?: readonly PolicyRule[];
}

const rbac = "rbac.authorization.k8s.io/v1";
const rbacGroup = "rbac.authorization.k8s.io";

/** The objects that give an account what it needs. */
export function access(needs: AccessNeeds): Access {
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

/** One rule for one API group; groups are written in full, `""` is the core group. */
export function rule(apiGroup: string, resources: string[], verbs: string[]) {
  return { apiGroups: [apiGroup], resources, verbs } satisfies PolicyRule;
}

/** Verbs of a watcher. */
export const reading: string[] = ["get", "list", "watch"];

/**
 * How long a leader may be silent, seconds. client-go's 15 and 10 restart every controller when a slow
 * disk holds etcd up for ten seconds, which shared storage does.
 */
export const leaderElectionTimes = { lease: 45, renew: 30, retry: 5 };

/** Leader election by a lease in the account's own namespace (client-go leaderelection). */
export const leaderElection = rule(
  "coordination.k8s.io",
  ["leases"],
  ["get", "create", "update", "patch"],
);

/** Events are written to many namespaces, so this cannot be a namespaced role. */
export const writingEvents = rule("", ["events"], ["create", "patch", "update"]);

import type { StateResource } from "./stack-state.js";

/**
 * Matches the URN of a script (`remote.Command`) in a component of stackadm. Does not match scripts
 * of the user's own program.
 */
const clusterScript = /\bstackadm:[^$]*\$command:remote:Command::/;

/**
 * Returns a function that checks whether the deletion of a resource needs the API of one of the
 * stack's clusters. The function returns true for Kubernetes objects in these clusters, and for
 * scripts of stackadm that run at deletion (input `delete`). The function returns false for
 * Kubernetes objects in other clusters, for which the user's program may have providers.
 *
 * @param providers URNs of the providers that connect to the stack's clusters
 */
export const createApiDependencyPredicate =
  (providers: ReadonlySet<string>) =>
  ({ urn, type, inputs, provider = "" }: StateResource): boolean =>
    type.startsWith("kubernetes:")
      ? // A reference to a provider has the form `<URN>::<ID>`.
        providers.has(provider.slice(0, provider.lastIndexOf("::")))
      : clusterScript.test(urn) && inputs?.["delete"] !== undefined;

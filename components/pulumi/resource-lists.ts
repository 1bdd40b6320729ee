import type * as pulumi from "@pulumi/pulumi";

/** Resources, or a promise of resources that the program has not created yet. */
export type ResourceList = readonly pulumi.Resource[] | Promise<readonly pulumi.Resource[]>;

/** Returns the resources of all lists, for the option `dependsOn`. */
export async function joinLists(...lists: readonly ResourceList[]): Promise<pulumi.Resource[]> {
  const all: pulumi.Resource[] = [];
  for (const list of lists) all.push(...(await list));
  return all;
}

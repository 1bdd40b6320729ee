import type { Row } from "../graph/graph.js";

/**
 * Rewrites the URNs of Pulumi's mocks to the URNs of the engine, for the stack `dev`. A URN of the
 * mocks contains only the type of the parent. A URN of the engine contains the types of all
 * ancestors except the stack.
 */
export function withEngineUrns(rows: readonly Row[]): Row[] {
  const byUrn = new Map(rows.map((row) => [row.urn, row]));
  const types = (row: Row): string => {
    const parent = byUrn.get(row.parent);
    return parent && parent.parent !== "" ? `${types(parent)}$${row.type}` : row.type;
  };
  const urn = (old: string): string => {
    const row = byUrn.get(old);
    return row ? `urn:pulumi:dev::stackadm::${types(row)}::${row.name}` : old;
  };
  return rows.map((row) => ({
    ...row,
    urn: urn(row.urn),
    parent: urn(row.parent),
    dependencies: row.dependencies.map(urn),
    propertyDependencies: Object.fromEntries(
      Object.entries(row.propertyDependencies).map(([key, urns]) => [key, urns.map(urn)]),
    ),
    provider: row.provider.replace(/^(.*)::/, (_all, provider: string) => `${urn(provider)}::`),
    deletedWith: urn(row.deletedWith),
    replaceWith: row.replaceWith.map(urn),
    aliases: row.aliases.map((alias) => alias.replace("pulumi:pulumi:Stack$", "")),
  }));
}

/** Where a credential leads, and what it may do there. */
export interface CloudScope {
  /** Keystone, with its version: "https://keystone.example.org/v3". */
  readonly authUrl: string;
  readonly region: string;
  readonly projectId: string;
  readonly roles: string[];
}

/** What a token says of it. */
export interface Scoped {
  /** Of the identity service, as the catalog lists them. */
  readonly endpoints: readonly {
    readonly interface: string;
    readonly region?: string | null | undefined;
    readonly url: string;
  }[];
  /** The region that is worked in, where one is named. */
  readonly region: string | undefined;
  readonly projectId: string;
  readonly roles: readonly string[];
}

/** Nothing where the catalog has no public endpoint of the identity service. */
export function scopeIn({ endpoints, region, projectId, roles }: Scoped): CloudScope | undefined {
  const everywhere = endpoints.filter((endpoint) => endpoint.interface === "public");
  const found = everywhere.find((one) => one.region === region) ?? everywhere[0];
  return (
    found && {
      authUrl: `${found.url.replace(/\/(v3\/?)?$/, "")}/v3`,
      region: (region ?? "") || (found.region ?? ""),
      projectId,
      roles: [...roles].sort(),
    }
  );
}

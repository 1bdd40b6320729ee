/** Project and region in which a credential is valid, and the user's roles in the project. */
export interface CloudScope {
  /** URL of Keystone with the API version: "https://keystone.example.org/v3". */
  readonly authUrl: string;
  readonly region: string;
  readonly projectId: string;
  readonly roles: string[];
}

/** Properties of a token that determine the scope. */
export interface TokenScope {
  /** Endpoints of the identity service in the catalog. */
  readonly endpoints: readonly {
    readonly interface: string;
    readonly region?: string | null | undefined;
    readonly url: string;
  }[];
  /** Name of the configured region. Undefined: no region is configured. */
  readonly region: string | undefined;
  readonly projectId: string;
  readonly roles: readonly string[];
}

/** Returns the scope. Returns undefined if the catalog has no public identity endpoint. */
export function getCloudScope({
  endpoints,
  region,
  projectId,
  roles,
}: TokenScope): CloudScope | undefined {
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

/*
 * Keystone access rules for the requests of the cluster's controllers. A service that enforces
 * access rules refuses every request that no rule of the credential allows, whatever the
 * credential's roles allow. Source: code of cloud controller manager and Cinder CSI in
 * cloud-provider-openstack 1.36.
 */

export const methods = ["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"] as const;

/**
 * Rule that allows one method on the matching paths of a service. In a path, `*` matches one
 * segment, `**` any number of segments.
 */
export interface AccessRule {
  /** Type of the service, as in the service's own configuration and the catalog. */
  readonly service: string;
  readonly method: (typeof methods)[number];
  readonly path: string;
}

/** Access rule, or the word for all rules that the cluster's controllers need. */
export type AccessRuleOrGroup = AccessRule | "controllers";

type Calls = Readonly<Partial<Record<AccessRule["method"], readonly string[]>>>;

/**
 * Paths that controllers may read: all, because services send further requests in the caller's
 * name. Octavia reads subnets, Nova reads ports.
 */
const everything = ["**"];

const balancing: Calls = {
  GET: everything,
  POST: ["**/lbaas/**"],
  PUT: ["**/lbaas/**"],
  DELETE: ["**/lbaas/**"],
};

const network: Calls = {
  GET: everything,
  POST: ["**/floatingips", "**/security-groups", "**/security-group-rules"],
  PUT: ["**/floatingips/*", "**/ports/*"],
  DELETE: [
    ...["**/floatingips/*", "**/ports/*/tags/*"],
    ...["**/security-groups/*", "**/security-group-rules/*"],
  ],
};

const routes: Calls = {
  PUT: ["**/routers/*", "**/routers/*/add_extraroutes", "**/routers/*/remove_extraroutes"],
};

const access = ["**/containers/*/acl", "**/secrets/*/acl"];

/**
 * Requests for certificates: the controller reads a certificate, and Octavia, in the caller's name,
 * adds itself to the certificate's access control list.
 */
const certificates: Calls = {
  GET: ["**/containers/*", "**/secrets/*", ...access],
  PUT: access,
  DELETE: access,
};

const compute: Calls = {
  GET: ["**/servers", "**/servers/**", "**/flavors/**"],
  POST: ["**/servers/*/os-volume_attachments"],
  DELETE: ["**/servers/*/os-volume_attachments/*"],
};

const storage: Calls = {
  GET: everything,
  POST: ["**/volumes", "**/volumes/*/action", "**/snapshots", "**/backups"],
  DELETE: ["**/volumes/*", "**/snapshots/*", "**/backups/*"],
};

/**
 * Possible service types of Cinder. A service checks only the rules for the type in the service's
 * configuration, which the catalog does not show.
 */
const storageTypes = ["block-storage", "volumev3", "volume"];

const rulesOf = (service: string, calls: Calls): AccessRule[] =>
  methods.flatMap((method) =>
    (calls[method] ?? []).map((path) => ({ service, method, path: `/${path}` })),
  );

export interface AccessRuleNeeds {
  /** Whether the cloud's router routes the pods' ranges. */
  readonly routes: boolean;
  /** Whether load balancers terminate TLS with a certificate in Barbican. */
  readonly certificates: boolean;
}

/** Returns the rules that the cluster's controllers need. */
const controllerRules = (wanted: AccessRuleNeeds): AccessRule[] => [
  ...rulesOf("load-balancer", balancing),
  ...rulesOf("network", network),
  ...(wanted.routes ? rulesOf("network", routes) : []),
  ...(wanted.certificates ? rulesOf("key-manager", certificates) : []),
  ...rulesOf("compute", compute),
  ...storageTypes.flatMap((type) => rulesOf(type, storage)),
];

/**
 * Returns the rules for Keystone without duplicates. The rules are sorted, so that another order in
 * the settings changes nothing.
 */
export function accessRulesOf(
  written: readonly AccessRuleOrGroup[],
  wanted: AccessRuleNeeds,
): AccessRule[] {
  const rules = written.flatMap((one) => (one === "controllers" ? controllerRules(wanted) : [one]));
  const keyed = rules.map(
    ({ service, method, path }) =>
      [`${service} ${method} ${path}`, { service, method, path }] as const,
  );
  return [...new Map(keyed)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, rule]) => rule);
}

/*
 * Keystone access rules for the requests of the cluster's controllers. A service that enforces
 * access rules refuses every request that no rule of the credential allows. The credential's roles
 * cannot allow such a request. Source: code of cloud controller manager and Cinder CSI in
 * cloud-provider-openstack 1.36.
 */

export const httpMethods = ["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"] as const;

/**
 * Rule that allows one method on the matching paths of a service. In a path, `*` matches one
 * segment, and `**` matches any number of segments.
 */
export interface AccessRule {
  /** Service type in Keystone's catalog. The service's own configuration uses the same type. */
  readonly service: string;
  readonly method: (typeof httpMethods)[number];
  readonly path: string;
}

/** Access rule, or "controllers" for all rules that the cluster's controllers need. */
export type AccessRuleOrGroup = AccessRule | "controllers";

type Calls = Readonly<Partial<Record<AccessRule["method"], readonly string[]>>>;

/**
 * Paths that controllers may read. All paths are allowed, because services send further requests in
 * the caller's name: Octavia reads subnets, and Nova reads ports.
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
 * Requests for a TLS certificate in Barbican. The cloud controller reads the certificate. Octavia
 * then adds itself to the certificate's access control list, in the name of the cloud controller.
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
 * Possible service types of Cinder. Cinder checks only rules with the type in Cinder's own
 * configuration. The catalog does not show this type, so each rule is needed for all three types.
 */
const storageTypes = ["block-storage", "volumev3", "volume"];

const rulesOf = (service: string, calls: Calls): AccessRule[] =>
  httpMethods.flatMap((method) =>
    (calls[method] ?? []).map((path) => ({ service, method, path: `/${path}` })),
  );

export interface AccessRuleNeeds {
  /** Whether the pod network needs routes on the OpenStack router. */
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
 * Returns the rules for Keystone, sorted and without duplicates. Because the rules are sorted,
 * their order in the settings does not matter.
 */
export function listAccessRules(
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

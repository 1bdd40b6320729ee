/*
 * What the cluster's controllers ask of the cloud, as access rules of Keystone: a service that enforces them refuses a credential all else,
 * whatever its roles allow. Read from cloud-provider-openstack 1.36: cloud controller manager and Cinder CSI.
 */

export const methods = ["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"] as const;

/** One method on the paths of a service that match; `*` is one part of a path, `**` any number of them. */
export interface AccessRule {
  /** Type of the service, as the service itself and the catalogue call it. */
  readonly service: string;
  readonly method: (typeof methods)[number];
  readonly path: string;
}

/** A rule, or the word for those that the cluster's controllers need. */
export type WrittenRule = AccessRule | "controllers";

type Calls = Readonly<Partial<Record<AccessRule["method"], readonly string[]>>>;

/** Reading is not taken apart: services ask each other in the caller's name, Octavia for subnets and Nova for ports. */
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

/** The controller looks for a certificate, and Octavia gives itself access to it in the caller's name. */
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

/** What Cinder may be called: a service looks for its own word only, and which one that is the catalogue does not say. */
const storageTypes = ["block-storage", "volumev3", "volume"];

const rulesOf = (service: string, calls: Calls): AccessRule[] =>
  methods.flatMap((method) =>
    (calls[method] ?? []).map((path) => ({ service, method, path: `/${path}` })),
  );

export interface Wanted {
  /** Whether the cloud's router knows the way to the pods. */
  readonly routes: boolean;
  /** Whether load balancers end TLS with a certificate in Barbican. */
  readonly certificates: boolean;
}

/** What the cluster's controllers need. */
const controllerRules = (wanted: Wanted): AccessRule[] => [
  ...rulesOf("load-balancer", balancing),
  ...rulesOf("network", network),
  ...(wanted.routes ? rulesOf("network", routes) : []),
  ...(wanted.certificates ? rulesOf("key-manager", certificates) : []),
  ...rulesOf("compute", compute),
  ...storageTypes.flatMap((type) => rulesOf(type, storage)),
];

/** The rules as Keystone takes them: each once, and the same whatever their order was. */
export function accessRulesOf(written: readonly WrittenRule[], wanted: Wanted): AccessRule[] {
  const rules = written.flatMap((one) => (one === "controllers" ? controllerRules(wanted) : [one]));
  const keyed = rules.map(
    ({ service, method, path }) =>
      [`${service} ${method} ${path}`, { service, method, path }] as const,
  );
  return [...new Map(keyed)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, rule]) => rule);
}

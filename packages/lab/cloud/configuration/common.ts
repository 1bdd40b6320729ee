import type { LabSettings } from "../../settings.js";
import type { LabSecrets } from "../secrets.js";

/** Values from which every configuration file is rendered. */
export interface CloudInputs {
  readonly settings: LabSettings;
  readonly secrets: LabSecrets;
}

/** Ports on the cloud's management address. */
export const managementPorts = {
  identity: 5000,
  placement: 8778,
  image: 9292,
  compute: 8774,
  metadata: 8775,
  network: 9696,
  volume: 8776,
  loadBalancer: 9876,
  secrets: 9311,
  packages: 8081,
  registry: 5001,
  database: 3306,
  bus: 5672,
  cache: 11211,
} as const;

/** Ports of the APIs in the catalog. Each API is also served over TLS, on another port. */
export const catalogApiPorts = [
  ...[
    managementPorts.identity,
    managementPorts.placement,
    managementPorts.image,
    managementPorts.compute,
    managementPorts.network,
  ],
  ...[managementPorts.volume, managementPorts.loadBalancer, managementPorts.secrets],
] as const;

/** URL scheme of an API. */
export type ApiTransport = "http" | "https";

/** Returns the port at which nginx terminates TLS for the API on `port`. */
export const getTlsPort = (port: number): number => port + 10_000;

/** Returns the address of the API on `port`, e.g. `https://172.29.0.2:15000/v3`. */
export const getApiUrl = (
  { management }: LabSettings,
  { transport, port, path = "" }: { transport: ApiTransport; port: number; path?: string },
): string =>
  `${transport}://${management.cloud}:${transport === "https" ? getTlsPort(port) : port}${path}`;

/**
 * Returns the catalog region whose addresses all use this transport. Clients choose a transport by
 * the region in their settings. OpenStack services use the region with plain HTTP.
 */
export const getRegion = ({ region }: LabSettings, transport: ApiTransport): string =>
  transport === "https" ? `${region}-tls` : region;

/** Returns the address of Keystone. @default plain HTTP */
export const getIdentityUrl = (settings: LabSettings, transport: ApiTransport = "http"): string =>
  getApiUrl(settings, { transport, port: managementPorts.identity, path: "/v3" });

export const getDatabaseOptions = (
  { secrets }: CloudInputs,
  name: string,
): { connection: string } => ({
  connection: `mysql+pymysql://lab:${secrets.database}@127.0.0.1/${name}`,
});

/** Returns the credentials with which one service calls another. */
export const getServiceCredentials = ({ settings, secrets }: CloudInputs) => ({
  auth_type: "password",
  auth_url: getIdentityUrl(settings),
  username: "svc",
  password: secrets.service,
  project_name: "service",
  user_domain_name: "Default",
  project_domain_name: "Default",
  region_name: settings.region,
});

/**
 * Returns the section `keystone_authtoken`, with which a service validates the tokens in requests.
 *
 * @param type service type in the catalog, needed to check the access rules of a token
 */
export const getAuthtokenOptions = (inputs: CloudInputs, type: string) => ({
  ...getServiceCredentials(inputs),
  service_type: type,
  www_authenticate_uri: getIdentityUrl(inputs.settings),
  memcached_servers: `127.0.0.1:${managementPorts.cache}`,
  service_token_roles: "service",
  service_token_roles_required: true,
});

/**
 * Returns the [DEFAULT] settings that all services on the message bus share. Logs go to the
 * journal.
 */
export const getCommonDefaults = ({ secrets }: CloudInputs) => ({
  transport_url: `rabbit://lab:${secrets.bus}@127.0.0.1:${managementPorts.bus}/`,
  log_dir: "",
  use_stderr: true,
  debug: false,
});

/**
 * Setting that makes services read the X-Forwarded-Proto header of nginx. Otherwise links in their
 * answers to HTTPS requests would begin with `http:`.
 */
export const proxyHeadersSection = { oslo_middleware: { enable_proxy_headers_parsing: true } };

export const getConcurrencyOptions = (service: string) => ({ lock_path: `/run/lock/${service}` });

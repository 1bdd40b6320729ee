import type { LabSettings } from "../../settings.js";
import type { LabSecrets } from "../secrets.js";

/** What every configuration file is rendered from. */
export interface CloudInputs {
  readonly settings: LabSettings;
  readonly secrets: LabSecrets;
}

/** Ports on the cloud's management address. */
export const ports = {
  identity: 5000,
  placement: 8778,
  image: 9292,
  compute: 8774,
  metadata: 8775,
  network: 9696,
  volume: 8776,
  loadBalancer: 9876,
  packages: 8081,
  registry: 5001,
  database: 3306,
  bus: 5672,
  cache: 11211,
} as const;

export const identityUrl = ({ management }: LabSettings): string =>
  `http://${management.cloud}:${ports.identity}/v3`;

export const database = ({ secrets }: CloudInputs, name: string): { connection: string } => ({
  connection: `mysql+pymysql://lab:${secrets.database}@127.0.0.1/${name}`,
});

/** How a service logs in when it calls another one. */
export const serviceLogin = ({ settings, secrets }: CloudInputs) => ({
  auth_type: "password",
  auth_url: identityUrl(settings),
  username: "svc",
  password: secrets.service,
  project_name: "service",
  user_domain_name: "Default",
  project_domain_name: "Default",
  region_name: settings.region,
});

/** How a service checks the tokens of those who call it. */
export const tokenCheck = (inputs: CloudInputs) => ({
  ...serviceLogin(inputs),
  www_authenticate_uri: identityUrl(inputs.settings),
  memcached_servers: `127.0.0.1:${ports.cache}`,
  service_token_roles: "service",
  service_token_roles_required: true,
});

/** The beginning of [DEFAULT] of every service on the message bus; logs go to the journal. */
export const busAndLog = ({ secrets }: CloudInputs) => ({
  transport_url: `rabbit://lab:${secrets.bus}@127.0.0.1:${ports.bus}/`,
  log_dir: "",
  use_stderr: true,
  debug: false,
});

export const locks = (service: string) => ({ lock_path: `/run/lock/${service}` });

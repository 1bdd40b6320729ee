import type { Ini } from "../render-ini.js";
import {
  proxyHeadersSection,
  getCommonDefaults,
  getDatabaseOptions,
  managementPorts,
  getAuthtokenOptions,
  type CloudInputs,
} from "./common.js";

export const getKeystoneConf = (inputs: CloudInputs): Ini => ({
  DEFAULT: { use_stderr: true },
  database: getDatabaseOptions(inputs, "keystone"),
  token: { provider: "fernet", expiration: 86_400 },
  cache: {
    enabled: true,
    backend: "dogpile.cache.memcached",
    memcache_servers: `127.0.0.1:${managementPorts.cache}`,
  },
  ...proxyHeadersSection,
});

export const getGlanceConf = (inputs: CloudInputs): Ini => ({
  DEFAULT: {
    ...getCommonDefaults(inputs),
    // The main process serves requests itself and starts no worker processes.
    workers: 0,
    bind_host: inputs.settings.management.cloud,
    enabled_backends: "file:file",
  },
  database: getDatabaseOptions(inputs, "glance"),
  glance_store: { default_backend: "file" },
  file: { filesystem_store_datadir: "/srv/lab/images" },
  paste_deploy: { flavor: "keystone" },
  ...proxyHeadersSection,
  keystone_authtoken: getAuthtokenOptions(inputs, "image"),
});

export const getPlacementConf = (inputs: CloudInputs): Ini => ({
  DEFAULT: { use_stderr: true },
  placement_database: getDatabaseOptions(inputs, "placement"),
  api: { auth_strategy: "keystone" },
  keystone_authtoken: getAuthtokenOptions(inputs, "placement"),
});

import type { Ini } from "../render-ini.js";
import { behindProxy, busAndLog, database, ports, tokenCheck, type CloudInputs } from "./common.js";

export const keystone = (inputs: CloudInputs): Ini => ({
  DEFAULT: { use_stderr: true },
  database: database(inputs, "keystone"),
  token: { provider: "fernet", expiration: 86_400 },
  cache: {
    enabled: true,
    backend: "dogpile.cache.memcached",
    memcache_servers: `127.0.0.1:${ports.cache}`,
  },
  ...behindProxy,
});

export const glance = (inputs: CloudInputs): Ini => ({
  DEFAULT: {
    ...busAndLog(inputs),
    // Serves requests in the main process, without a parent that only watches it.
    workers: 0,
    bind_host: inputs.settings.management.cloud,
    enabled_backends: "file:file",
  },
  database: database(inputs, "glance"),
  glance_store: { default_backend: "file" },
  file: { filesystem_store_datadir: "/srv/lab/images" },
  paste_deploy: { flavor: "keystone" },
  ...behindProxy,
  keystone_authtoken: tokenCheck(inputs, "image"),
});

export const placement = (inputs: CloudInputs): Ini => ({
  DEFAULT: { use_stderr: true },
  placement_database: database(inputs, "placement"),
  api: { auth_strategy: "keystone" },
  keystone_authtoken: tokenCheck(inputs, "placement"),
});

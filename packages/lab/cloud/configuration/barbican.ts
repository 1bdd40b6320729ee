import type { Ini } from "../render-ini.js";
import {
  proxyHeadersSection,
  getCommonDefaults,
  getDatabaseOptions,
  getAuthtokenOptions,
  type CloudInputs,
} from "./common.js";

export const getBarbicanConf = (inputs: CloudInputs): Ini => ({
  DEFAULT: {
    ...getCommonDefaults(inputs),
    sql_connection: getDatabaseOptions(inputs, "barbican").connection,
    // An empty value: Barbican builds secret references with the address in the request.
    host_href: "",
  },
  secretstore: { enabled_secretstore_plugins: "store_crypto" },
  crypto: { enabled_crypto_plugins: "simple_crypto" },
  simple_crypto_plugin: { kek: inputs.secrets.secretsKey },
  ...proxyHeadersSection,
  keystone_authtoken: getAuthtokenOptions(inputs, "key-manager"),
});

import type { Ini } from "../render-ini.js";
import { behindProxy, busAndLog, database, tokenCheck, type CloudInputs } from "./common.js";

export const barbican = (inputs: CloudInputs): Ini => ({
  DEFAULT: {
    ...busAndLog(inputs),
    sql_connection: database(inputs, "barbican").connection,
    // References to secrets begin with the address of the client's request.
    host_href: "",
  },
  secretstore: { enabled_secretstore_plugins: "store_crypto" },
  crypto: { enabled_crypto_plugins: "simple_crypto" },
  simple_crypto_plugin: { kek: inputs.secrets.secretsKey },
  ...behindProxy,
  keystone_authtoken: tokenCheck(inputs, "key-manager"),
});

/** Entry point of the stand-in for pulumi-resource-command. */
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { RemoteEngineLog } from "../plugin/engine-log.js";
import { parseEngineAddress, serve } from "../plugin/serve.js";
import { CommandProvider } from "./provider.js";

async function main(): Promise<void> {
  const address = parseEngineAddress(process.argv.slice(2));
  if (address === undefined) {
    throw new Error("The engine's address is missing: this program is started by Pulumi.");
  }
  const provider = new CommandProvider({ log: new RemoteEngineLog(address), env: process.env });
  await serve({
    service: ResourceProviderService,
    implementation: provider.handlers(),
    onEngineGone: () => {
      provider.cancel();
    },
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});

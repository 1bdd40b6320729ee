/** Entry point of the stand-in for pulumi-resource-kubernetes. */
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { parseEngineAddress, serve } from "../plugin/serve.js";
import { KubernetesProvider } from "./provider.js";

/**
 * Version of @pulumi/kubernetes that the stand-in replaces. The build metadata shows that it is the
 * stand-in.
 */
const version = "4.34.2+stand-in";

async function main(): Promise<void> {
  const address = parseEngineAddress(process.argv.slice(2));
  const provider = new KubernetesProvider({ version, environment: (name) => process.env[name] });
  // Without the address argument, the engine sends its address later, by the gRPC method Attach.
  if (address !== undefined) provider.attach(address);
  await serve({
    service: ResourceProviderService,
    implementation: provider.service(),
    onEngineGone: () => {
      provider.cancel();
    },
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});

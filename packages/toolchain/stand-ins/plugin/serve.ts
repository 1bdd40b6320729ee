/**
 * Starts a plugin's gRPC server in the way that the engine requires: prints the port, and exits
 * when the engine exits.
 */
import { fstatSync } from "node:fs";
import * as grpc from "@grpc/grpc-js";
import { unlimitedMessageOptions } from "./engine-log.js";

export interface ServeOptions {
  readonly service: grpc.ServiceDefinition;
  readonly implementation: grpc.UntypedServiceImplementation;
  /** Function that is called when the engine has exited, before this process exits. */
  readonly onEngineGone?: () => void;
}

/**
 * Listens on a free loopback port and prints its number. The engine reads this number from the
 * first line of the output.
 */
export async function serve(options: ServeOptions): Promise<grpc.Server> {
  const server = new grpc.Server(unlimitedMessageOptions);
  server.addService(options.service, options.implementation);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(bound);
    });
  });
  process.stdout.write(`${port}\n`);
  endWithEngine(options.onEngineGone);
  return server;
}

/**
 * Exits when the engine exits, even if the engine was killed. The engine holds the other end of
 * standard input and never writes to it. So the end of the input means that the engine has exited.
 * Other kinds of standard input (a terminal, /dev/null) are ignored.
 */
function endWithEngine(onEngineGone: (() => void) | undefined): void {
  const input = fstatSync(0);
  if (!input.isFIFO() && !input.isSocket()) return;
  process.stdin.on("end", () => {
    onEngineGone?.();
    process.exit(0);
  });
  process.stdin.on("error", () => undefined);
  process.stdin.resume();
}

/**
 * Returns the engine's address, which is the only positional argument. Flags (`--logflow`, `-v=9`,
 * `--tracing X`) precede the address.
 */
export function parseEngineAddress(args: readonly string[]): string | undefined {
  return args.filter((arg) => /^[^-].*:\d+$/.test(arg)).at(-1);
}

/** Returns an error with the status that the official Go plugins use for every failure. */
export function toGrpcError(error: unknown): Partial<grpc.StatusObject> {
  if (error instanceof grpc.StatusBuilder) return error.build();
  const details = error instanceof Error ? error.message : String(error);
  return { code: grpc.status.UNKNOWN, details };
}

type Answer<Request, Response> = (request: Request) => Response | Promise<Response>;

/**
 * Turns a function into a gRPC handler. Errors that the function throws become the call's status.
 */
export function createUnaryHandler<Request, Response>(
  answer: Answer<Request, Response>,
): grpc.handleUnaryCall<Request, Response> {
  return (call, callback) => {
    Promise.resolve()
      .then(() => answer(call.request))
      .then(
        (response) => {
          callback(null, response);
        },
        (error: unknown) => {
          callback(toGrpcError(error));
        },
      );
  };
}

/** Returns the handler of a method that this plugin does not have. */
export function createUnimplementedHandler(method: string): grpc.handleUnaryCall<unknown, unknown> {
  return (_call, callback) => {
    callback({ code: grpc.status.UNIMPLEMENTED, details: `${method} is not implemented` });
  };
}

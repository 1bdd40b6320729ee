/**
 * Sends messages from a plugin to the engine. Diagnostics remain visible. Each status line replaces
 * the previous status line.
 */
import * as grpc from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb.js";

export type Severity = "debug" | "info" | "warning" | "error";

const severities: Record<Severity, LogSeverity> = {
  debug: LogSeverity.DEBUG,
  info: LogSeverity.INFO,
  warning: LogSeverity.WARNING,
  error: LogSeverity.ERROR,
};

export interface EngineLogMessage {
  readonly severity: Severity;
  readonly text: string;
  /** URN of the resource. Empty for the stack. */
  readonly urn?: string;
  /** Whether the engine shows the message only while it processes the resource. */
  readonly ephemeral?: boolean;
}

export interface EngineLog {
  send(message: EngineLogMessage): void;
  /** Waits until all messages sent so far have arrived. */
  flush(): Promise<void>;
}

/**
 * Log that keeps the order of messages. It sends a message only after the previous message has
 * arrived.
 */
export class RemoteEngineLog implements EngineLog {
  private readonly client: EngineClient;
  private last: Promise<void> = Promise.resolve();

  constructor(address: string) {
    this.client = new EngineClient(
      address,
      grpc.credentials.createInsecure(),
      unlimitedMessageOptions,
    );
  }

  send(message: EngineLogMessage): void {
    const request = new LogRequest()
      .setSeverity(severities[message.severity])
      .setMessage(message.text)
      .setUrn(message.urn ?? "")
      .setEphemeral(message.ephemeral ?? false);
    this.last = this.last.then(
      () =>
        new Promise((resolve) => {
          // A message that does not arrive must not make the operation fail.
          this.client.log(request, () => {
            resolve();
          });
        }),
    );
  }

  flush(): Promise<void> {
    return this.last;
  }
}

/** gRPC options that remove the limit of 4 MB per message, as Pulumi's own programs do. */
export const unlimitedMessageOptions = {
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
};

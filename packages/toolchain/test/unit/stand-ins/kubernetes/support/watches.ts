import type { ServerResponse } from "node:http";
import { getTextAt } from "../../../../../stand-ins/kubernetes/objects/json.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

type Kind = "ADDED" | "MODIFIED" | "DELETED";

interface Event {
  readonly type: Kind;
  readonly object: JsonObject;
  readonly version: number;
}

/** Collection of objects that a client watches. */
interface Collection {
  readonly kind: string;
  readonly namespace: string;
}

interface Watch extends Collection {
  readonly response: ServerResponse;
}

const belongs = (object: JsonObject, { kind, namespace }: Collection): boolean =>
  object["kind"] === kind && getTextAt(object, "metadata", "namespace") === namespace;

const send = (response: ServerResponse, { type, object }: Event): void => {
  response.write(`${JSON.stringify({ type, object })}\n`);
};

/** Stores the changes of all objects, and the clients that watch collections. */
export class Watches {
  private readonly events: Event[] = [];
  private readonly open = new Set<Watch>();

  /** Sends a change to all clients that watch the object's collection. */
  tell(type: Kind, object: JsonObject, version: number): void {
    const event = { type, object, version };
    this.events.push(event);
    for (const watch of this.open) if (belongs(object, watch)) send(watch.response, event);
  }

  /**
   * Sends the changes after the version `after`, and then each new change, until the client
   * disconnects.
   */
  watch(collection: Collection, after: number, response: ServerResponse): void {
    const watch = { ...collection, response };
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    for (const event of this.events)
      if (event.version > after && belongs(event.object, watch)) send(response, event);
    this.open.add(watch);
    response.on("close", () => this.open.delete(watch));
  }
}

import type { DecodedEngineEvent } from "../pulumi/events.js";

/** Collects events of the engine, and determines whether the engine changed anything. */
export class EngineWork {
  /** Events `started` and `finished` of all resources. */
  readonly events: DecodedEngineEvent[] = [];
  #hasEqualOutputs = false;

  processEvent(event: DecodedEngineEvent): void {
    if (event.type === "started" || event.type === "finished") this.events.push(event);
    if (event.type === "outputs") this.#hasEqualOutputs = event.same;
  }

  get hasStartedWork(): boolean {
    return this.events.some(({ type }) => type === "started");
  }

  /**
   * Whether anything differed from the settings. True if the engine changed a resource, or if the
   * engine did not report equal outputs.
   */
  get changed(): boolean {
    return this.hasStartedWork || !this.#hasEqualOutputs;
  }
}

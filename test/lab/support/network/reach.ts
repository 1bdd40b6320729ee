import { connect } from "node:net";

/** Returns whether a TCP connection is accepted within three seconds. */
export const answers = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 3_000 });
    const end = (open: boolean) => (): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", end(true)).once("timeout", end(false)).once("error", end(false));
  });

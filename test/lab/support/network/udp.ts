import { createSocket } from "node:dgram";

/**
 * Sends a UDP datagram. Returns the answer, `refused` if the port is closed, or `silence` without
 * an answer.
 */
export const askUdp = (host: string, port: number, text: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = createSocket("udp4");
    const end = (result: string): void => {
      clearTimeout(patience);
      socket.close();
      resolve(result);
    };
    const patience = setTimeout(end, 3_000, "silence");
    socket.once("message", (answer) => {
      end(answer.toString());
    });
    socket.once("error", () => {
      end("refused");
    });
    socket.connect(port, host, () => {
      socket.send(text);
    });
  });

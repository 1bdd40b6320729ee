import { createSocket } from "node:dgram";

/** What comes back for a datagram: the answer, `refused` where the other side says that nobody is there, or `silence`. */
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

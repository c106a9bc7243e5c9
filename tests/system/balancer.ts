import { connect, createServer, type Socket } from 'node:net';

/** Forwards connections to one controller at a time, as a balancer in front of several does. */
export const startBalancer = async (target: string) => {
  let current = new URL(target);
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(current.port), current.hostname);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    /** New connections go there. */
    setTarget: (url: string) => {
      current = new URL(url);
    },
    /** All connections break; the next ones go there. */
    moveTo: (url: string) => {
      current = new URL(url);
      for (const socket of open) socket.destroy();
    },
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
};

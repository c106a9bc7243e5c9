import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './postgres.ts';

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });

/** A NATS server on loopback that asks for a password. */
export const startNats = async () => {
  const port = await freePort();
  const begin = async (): Promise<ChildProcess> => {
    const args = ['-a', '127.0.0.1', '-p', String(port), '--user', 'lab', '--pass', 's3cret'];
    const server = spawn('nats-server', args, {
      stdio: 'ignore',
      env: { PATH: `${process.env['PATH']}:/usr/sbin` },
    });
    for (let attempt = 0; attempt < 600; attempt += 1) {
      if (await answers(port)) return server;
      await sleep(50);
    }
    throw new Error('the NATS server did not start; is the Debian package nats-server installed?');
  };
  let server = await begin();
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
  };
  return {
    url: `nats://lab:s3cret@127.0.0.1:${port}`,
    kill,
    /** After `kill`, at the same port. */
    startAgain: async () => {
      server = await begin();
    },
    stop: kill,
  };
};

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { unlink, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// `sun_path` is limited to 108 bytes.
const maxPathBytes = 100;

const socketOf = (dataDir: string): string => {
  const path = join(dataDir, 'agent.sock');
  if (Buffer.byteLength(path) <= maxPathBytes) return path;
  return join(tmpdir(), `rushhour-agent-${createHash('sha256').update(dataDir).digest('hex').slice(0, 32)}.sock`);
};

const isAnswered = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

const listen = async (path: string): Promise<() => Promise<void>> => {
  const server = createServer((socket) => socket.destroy());
  server.listen(path);
  await once(server, 'listening');
  server.unref();
  return async () => {
    server.close();
    await once(server, 'close');
  };
};

/**
 * Claims a data folder for one process: a socket in it accepts connections as long as that process runs, so a killed
 * process leaves no claim. Waits briefly because a restarting agent and its successor overlap. Returns a function that
 * releases the claim.
 */
export const claimFolder = async (dataDir: string, timeoutMs = 10_000): Promise<() => Promise<void>> => {
  const path = socketOf(dataDir);
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      const release = await listen(path);
      await writeFile(join(dataDir, 'agent.pid'), String(process.pid));
      return release;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
    if (!(await isAnswered(path))) await unlink(path).catch(() => {});
    else if (Date.now() > deadline) throw new Error(`another agent uses ${dataDir}`);
    else await sleep(100);
  }
};

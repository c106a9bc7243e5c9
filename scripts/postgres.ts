import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = '/usr/lib/postgresql';

/** The folder of PostgreSQL's programs; throws when it is not installed. */
const findPrograms = () => {
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
  if (found === undefined) {
    throw new Error('PostgreSQL is not installed: `apt-get install postgresql` provides the server the tests need');
  }
  return found;
};

export const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

/** PostgreSQL refuses to run as root; Debian's package creates a user for it. */
const owner = () => {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres']).toString());
  return { uid: id('-u'), gid: id('-g') };
};

/** All processes of a cluster stand still, as with a disk that does not answer, until the function that is returned is called. */
const stallAll = (pid: number): (() => void) => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  const signalAll = (signal: NodeJS.Signals) => {
    for (const one of [pid, ...children].filter((id) => id > 0)) {
      try {
        process.kill(one, signal);
      } catch {
        // A connection that was closed meanwhile.
      }
    }
  };
  signalAll('SIGSTOP');
  return () => signalAll('SIGCONT');
};

/** A temporary cluster on loopback. `durable` keeps fsync on, for tests that kill processes. */
export const startPostgres = async ({ isDurable = false } = {}) => {
  const bin = findPrograms();
  const dir = mkdtempSync(join(tmpdir(), 'rushhour-postgres-'));
  const user = owner();
  if (user.uid !== undefined && user.gid !== undefined) chownSync(dir, user.uid, user.gid);
  execFileSync(join(bin, 'initdb'), ['-D', dir, '-U', 'rushhour', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'], {
    ...user,
    stdio: 'ignore',
    cwd: dir,
  });
  const port = await freePort();
  const speed = isDurable ? [] : ['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off'];
  const settings = ['-h', '127.0.0.1', '-p', String(port), '-k', dir, '-c', 'max_connections=400', ...speed];
  const begin = async () => {
    const process = spawn(join(bin, 'postgres'), ['-D', dir, ...settings], { ...user, stdio: 'ignore', cwd: dir });
    await untilReady(bin, port);
    return process;
  };
  let server = await begin();
  /** Connections are closed, nothing is lost. */
  const halt = async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGINT');
    await ended;
  };
  const url = `postgres://rushhour@127.0.0.1:${port}/postgres`;
  return {
    url,
    /** The lines of the result; columns are separated by `|`. */
    query: (text: string): string[] =>
      execFileSync(join(bin, 'psql'), ['-At', '-c', text, url]).toString().split('\n').filter(Boolean),
    halt,
    stall: () => stallAll(server.pid ?? 0),
    /** After `halt`, with the same data and port. */
    startAgain: async () => {
      server = await begin();
    },
    stop: async () => {
      await halt();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

const untilReady = async (bin: string, port: number) => {
  for (let attempt = 0; attempt < 1200; attempt += 1) {
    try {
      execFileSync(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error('PostgreSQL did not start');
};

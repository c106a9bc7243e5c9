import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { unpackedFolder } from '../../scripts/debian-packages.ts';
import type { Side } from '../engines/namespaces.ts';
import { execute } from '../engines/programs.ts';

const programs = '/usr/libexec';
const attempts = 600;

export interface Libreswan {
  /** Runs whack and returns its output, also when it fails. */
  control(...args: string[]): Promise<string>;
  log(): string;
  stop(): Promise<void>;
}

export interface LibreswanOptions {
  /** Content of ipsec.conf. */
  readonly configuration: string;
  /** Content of ipsec.secrets. */
  readonly secrets: string;
}

/** The IKE daemon of Libreswan in a namespace, with folders of its own. Its programs have to be where it was built for. */
export const startLibreswan = async (side: Side, options: LibreswanOptions): Promise<Libreswan> => {
  const files = join(unpackedFolder('libreswan'), programs);
  if (!existsSync(files)) throw new Error('these tests need Libreswan, which scripts/debian-packages.ts unpacks');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-pluto-'));
  const [run, keys, socket] = [join(folder, 'run'), join(folder, 'nss'), join(folder, 'run/pluto.ctl')];
  for (const one of [run, keys]) mkdirSync(one);
  writeFileSync(join(folder, 'conf'), options.configuration);
  writeFileSync(join(folder, 'secrets'), options.secrets);
  execFileSync('certutil', ['-N', '-d', `sql:${keys}`, '--empty-password']);
  const isolated = (program: string, ...args: readonly string[]): string[] => {
    const script = `mount --bind ${files} ${programs} && exec ${programs}/ipsec/${program} "$@"`;
    return ['netns', 'exec', side.namespace, 'unshare', '-m', 'sh', '-c', script, 'sh', ...args];
  };
  const daemon = isolated(
    ...(['pluto', '--nofork', '--no-dnssec', '--config', join(folder, 'conf'), '--rundir', run] as const),
    ...['--ipsecdir', run, '--nssdir', keys, '--secretsfile', join(folder, 'secrets')],
    ...['--logfile', join(folder, 'log'), '--listen', side.address],
  );
  const child = spawn('ip', daemon, { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const log = () => (existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : '');
  const control = async (...args: string[]): Promise<string> => {
    const all = isolated('whack', '--ctlsocket', socket, ...args);
    const { stdout, stderr } = await execute('ip', all, { timeout: 60_000 }).catch((error) => error);
    return `${stdout}${stderr}`;
  };
  const stop = async () => {
    child.kill();
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  // It reads its connections by itself and listens afterwards.
  for (let attempt = 0; !log().includes(`adding UDP interface ${side.device} ${side.address}:500`); attempt++) {
    if (child.exitCode !== null || attempt > attempts) throw new Error(`pluto does not start: ${log()}`);
    await sleep(50);
  }
  return { control, log, stop };
};

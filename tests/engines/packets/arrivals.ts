import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Side } from '../namespaces.ts';
import { execute, stopProcess } from '../programs.ts';

interface Capture {
  /** Ends the capture; returns fields of the frames that match the filter, a line each. */
  read(filter: string, ...fields: string[]): Promise<string[]>;
}

/** Captures what arrives at one end of the cable. */
export const startCapture = async (side: Side): Promise<Capture> => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-capture-'));
  const file = join(folder, 'arrived.pcap');
  // A buffer for all frames, so that tcpdump drops none on a busy machine.
  const options = ['--immediate-mode', '-s', '10000', '-B', '65536', '-i', side.device, '-Q', 'in', '-U', '-w', file];
  const args = ['netns', 'exec', side.namespace, 'tcpdump', ...options];
  const child: ChildProcess = spawn('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  // tcpdump prints a line once it listens.
  await once(child.stderr as NonNullable<typeof child.stderr>, 'data');
  return {
    async read(filter, ...fields) {
      await sleep(200);
      await stopProcess(child);
      const wanted = ['-o', 'udp.check_checksum:TRUE', '-T', 'fields', ...fields.flatMap((field) => ['-e', field])];
      const { stdout } = await execute('tshark', ['-n', '-r', file, '-Y', filter, ...wanted]);
      rmSync(folder, { recursive: true });
      return stdout.split('\n').filter((line) => line !== '');
    },
  };
};

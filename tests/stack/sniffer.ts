import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Side } from '../engines/namespaces.ts';
import { execute, requireProgram } from '../engines/programs.ts';

/** A capture of everything on an interface, read by tshark. */
export interface Sniffer {
  stop(): Promise<void>;
  /** Values of fields, a row for each packet that matches the display filter. */
  fields(filter: string, names: readonly string[]): Promise<string[][]>;
}

export const startSniffer = async (side: Side): Promise<Sniffer> => {
  for (const program of ['tcpdump', 'tshark']) requireProgram(program);
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-sniff-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'all.pcap');
  const args = [
    'netns',
    'exec',
    side.namespace,
    'tcpdump',
    '-i',
    side.device,
    '-U',
    '--immediate-mode',
    '-w',
    file,
    '-Z',
    'root',
  ];
  const child = spawn('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  let messages = '';
  child.stderr.on('data', (bytes: Buffer) => {
    messages += bytes.toString();
  });
  while (!messages.includes('listening on')) {
    if (child.exitCode !== null) throw new Error(`tcpdump ended: ${messages}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    async stop() {
      // What has arrived is still written.
      await new Promise((resolve) => setTimeout(resolve, 200));
      child.kill('SIGINT');
      await exited;
    },
    async fields(filter, names) {
      const wanted = names.flatMap((name) => ['-e', name]);
      const shape = ['-T', 'fields', '-E', 'separator=\t', '-E', 'occurrence=a', ...wanted];
      const { stdout } = await execute('tshark', ['-r', file, '-Y', filter, ...shape], { maxBuffer: 64 * 1024 * 1024 });
      return stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => line.split('\t'));
    },
  };
};

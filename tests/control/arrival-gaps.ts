import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { inside } from '../engines/job-child.ts';
import type { Side } from '../engines/namespaces.ts';
import { execute, requireProgram, stopProcess } from '../engines/programs.ts';

/** Source port of flow 0. */
const firstPort = 1024;

/**
 * Captures the headers of packets to a UDP port. The result stops the capture and returns the longest time in microseconds
 * between two packets of each flow, as tshark reads it.
 */
export const captureGaps = async (side: Side, port: number): Promise<() => Promise<Map<number, number>>> => {
  for (const program of ['tcpdump', 'tshark']) requireProgram(program);
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-gaps-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'all.pcap');
  const [program = '', ...before] = inside(side);
  const filter = `udp dst port ${port}`;
  const options = ['-i', side.device, '-s', '60', '-B', '16384', '-w', file, '-Z', 'root', filter];
  const child = spawn(program, [...before, 'tcpdump', ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise((resolve) => child.stderr.once('data', resolve));
  return async () => {
    await sleep(1200);
    await stopProcess(child);
    if (statSync(file).size === 0) throw new Error('tcpdump has captured nothing');
    const fields = ['-T', 'fields', '-e', 'udp.srcport', '-e', 'frame.time_epoch'];
    const { stdout } = await execute('tshark', ['-r', file, ...fields], { maxBuffer: 1 << 28 });
    const gaps = new Map<number, number>();
    const last = new Map<number, number>();
    for (const line of stdout.split('\n').filter(Boolean)) {
      const [source = 0, seconds = 0] = line.split('\t').map(Number);
      const flow = source - firstPort;
      const gapUs = (seconds - (last.get(flow) ?? seconds)) * 1e6;
      gaps.set(flow, Math.max(gaps.get(flow) ?? 0, gapUs));
      last.set(flow, seconds);
    }
    return gaps;
  };
};

/** The time of a flow without its lost packets: what is between the packets around them, less one interval. */
export const outageUs = (gapUs: number, lost: number): number => (gapUs * lost) / (lost + 1);

import { createHash, randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../files/durable-file.ts';
import { readText } from './proc.ts';

const networkNamespace = (): string => {
  try {
    return readlinkSync('/proc/self/ns/net');
  } catch {
    return '';
  }
};

const persistent = async (dataDir: string): Promise<string> => {
  const file = join(dataDir, 'machine-id');
  const found = await readFile(file, 'utf8').catch(() => '');
  if (found !== '') return found;
  const made = randomUUID();
  await writeDurably(file, made);
  return made;
};

/**
 * The same for all agents of one machine and network namespace, which therefore reach each other over loopback.
 * Includes the boot id because cloned machines share /etc/machine-id.
 */
export const machineIdOf = async (dataDir: string): Promise<string> => {
  const parts = [readText('/etc/machine-id'), readText('/proc/sys/kernel/random/boot_id'), networkNamespace()];
  if (parts[1] === '' || parts[2] === '') return persistent(dataDir);
  return createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, 32);
};

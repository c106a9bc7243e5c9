import { readFileSync } from 'node:fs';

/** Bytes of memory that a process uses. */
export const residentBytes = (pid = 0): number => {
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(resident?.[1] ?? 0) * 1024;
};

const ticksPerSecond = 100;

/** Processor time that a process has used. */
export const processorSeconds = (pid = 0): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};

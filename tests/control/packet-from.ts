import { inside } from '../engines/job-child.ts';
import type { Side } from '../engines/namespaces.ts';
import { execute, requireProgram } from '../engines/programs.ts';

/** Resolves once a packet that matches the filter has crossed the interface. */
export const packetFrom = async (side: Side, filter: string): Promise<void> => {
  requireProgram('tcpdump');
  const [program = '', ...before] = inside(side);
  await execute(program, [...before, 'tcpdump', '-i', side.device, '-c', '1', '-n', '--immediate-mode', filter]);
};

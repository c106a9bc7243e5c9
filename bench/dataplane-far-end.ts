/**
 * Attaches an XDP program that passes every frame to an interface, until stdin ends: a veth then accepts XDP frames from
 * its other end. Argument: the interface.
 */
import { requireDevice } from '../packages/agent/src/net/packet/device.ts';
import { attachProgramTo, loadProgram } from '../packages/agent/src/net/xdp/bpf.ts';
import { BpfProgram } from '../packages/agent/src/net/xdp/bpf-program.ts';

const pass = 2;
const { index } = requireDevice(process.argv[2] ?? '');
attachProgramTo(loadProgram('xdp', new BpfProgram().answer(pass).assemble()), index, 'driver');
console.log('attached');
process.stdin.on('end', () => process.exit()).resume();

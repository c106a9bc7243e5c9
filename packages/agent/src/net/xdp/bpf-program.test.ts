import { describe, expect, it } from 'vitest';
import { BpfProgram } from './bpf-program.ts';

describe('a program for the kernel', () => {
  it('is assembled as the kernel reads it', () => {
    const program = new BpfProgram()
      .set(6, { register: 1 })
      .setWide(1, 0x1_0000_0002)
      .load(8, 2, 6, 16)
      .jumpIf(2, 'below', 7, 'end')
      .store(2, 6, -2, 2)
      .label('end')
      .answer(3);
    const lines = program.assemble().toString('hex').match(/.{16}/g);
    expect(lines).toEqual([
      'bf16000000000000',
      '1801000002000000',
      '0000000001000000',
      '7962100000000000',
      'a502010007000000',
      '6b26feff00000000',
      'b700000003000000',
      '9500000000000000',
    ]);
  });

  it('rejects jumps to unknown labels and constants that do not fit', () => {
    expect(() => new BpfProgram().jump('nowhere').assemble()).toThrow('the program has no label nowhere');
    expect(() => new BpfProgram().set(0, 2 ** 31)).toThrow('does not fit into an instruction');
  });
});

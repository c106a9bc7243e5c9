import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { smbDialogue } from '../../packages/controller/src/security/campaigns/smb-dialogue.ts';
import { requireProgram } from '../engines/programs.ts';

const hexDump = (direction: 'I' | 'O', bytes: Buffer) =>
  `${direction}\n${[...bytes].map((byte, i) => `${i % 16 === 0 ? `\n${i.toString(16).padStart(6, '0')}` : ''} ${byte.toString(16).padStart(2, '0')}`).join('')}\n\n`;

it('a probe of a share is a whole dialogue that tshark reads: dialect, sign-in, tree, refusal', () => {
  for (const program of ['text2pcap', 'tshark']) requireProgram(program);
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-smb-'));
  try {
    const { sent, answered } = smbDialogue('ADMIN$', 'campaign 0 4');
    const [text, capture] = [join(folder, 'dialogue.txt'), join(folder, 'dialogue.pcap')];
    writeFileSync(text, sent.map((bytes, i) => hexDump('O', bytes) + hexDump('I', answered[i] as Buffer)).join(''));
    execFileSync('text2pcap', ['-q', '-D', '-T', '50000,445', text, capture], { stdio: 'ignore' });
    const read = (...args: string[]) =>
      execFileSync('tshark', ['-r', capture, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const fields = ['smb2.cmd', 'smb2.nt_status', 'ntlmssp.messagetype', 'ntlmssp.auth.username', 'smb2.tree'];
    const lines = read('-T', 'fields', '-E', 'separator=,', ...fields.flatMap((field) => ['-e', field])).trim();
    expect(lines.split('\n')).toEqual([
      '0,,,,',
      '0,0x00000000,,,',
      '1,,0x00000001,,',
      '1,0xc0000016,0x00000002,,',
      '1,,0x00000003,backup,',
      '1,0x00000000,,,',
      '3,,,,\\\\server.test\\ADMIN$',
      '3,0xc0000022,,,',
    ]);
    expect(read('-Y', '_ws.malformed')).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

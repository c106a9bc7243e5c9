import { bytesOf } from './step-bytes.ts';

const commands = { negotiate: 0, setUp: 1, connectTree: 3 } as const;
const statuses = { success: 0, moreNeeded: 0xc0000016, accessDenied: 0xc0000022 } as const;

const le = (bytes: 2 | 4 | 8, ...values: readonly number[]): Buffer => {
  const buffer = Buffer.alloc(bytes * values.length);
  values.forEach((value, i) => {
    buffer.writeUIntLE(value, i * bytes, Math.min(bytes, 6));
  });
  return buffer;
};
const utf16 = (text: string) => Buffer.from(text, 'utf16le');

interface Message {
  readonly command: number;
  readonly number: number;
  readonly body: Buffer;
  readonly sessionId?: number;
  /** Of answers. */
  readonly status?: number;
}

/** Direct TCP length, SMB2 header and body. */
const smb = ({ command, number, body, sessionId = 0, status }: Message): Buffer => {
  const header = Buffer.concat([
    ...[Buffer.from('\xfeSMB', 'latin1'), le(2, 64, 1), le(4, status ?? 0), le(2, command, 31)],
    ...[le(4, status === undefined ? 0 : 1, 0), le(8, number), le(4, 0xfeff, 0), le(8, sessionId), Buffer.alloc(16)],
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(header.length + body.length);
  return Buffer.concat([length, header, body]);
};

const ntlm = (type: number, ...parts: readonly Buffer[]) =>
  Buffer.concat([Buffer.from('NTLMSSP\0'), le(4, type), ...parts]);
const ntlmFlags = 0xa2898205;

/** Length, room and position of contents that follow a head of this size. */
const fieldsOf = (headBytes: number, contents: readonly Buffer[]): Buffer[] => {
  let at = headBytes;
  return contents.map((content) => {
    const field = Buffer.concat([le(2, content.length, content.length), le(4, at)]);
    at += content.length;
    return field;
  });
};

const hello = () => ntlm(1, le(4, ntlmFlags), Buffer.alloc(16));
const challenge = (name: string) => {
  const target = utf16('SERVER');
  // Name of the domain, and the end of the list.
  const facts = Buffer.concat([le(2, 2, target.length), target, le(2, 0, 0)]);
  const [first, second] = fieldsOf(48, [target, facts]) as [Buffer, Buffer];
  return ntlm(2, first, le(4, ntlmFlags), bytesOf(`${name} challenge`, 8), Buffer.alloc(8), second, target, facts);
};
const proof = (name: string, user: string) => {
  const contents = [
    ...[Buffer.alloc(24), bytesOf(`${name} proof`, 24), utf16('SERVER'), utf16(user), utf16('CLIENT'), Buffer.alloc(0)],
  ];
  return ntlm(3, ...fieldsOf(64, contents), le(4, ntlmFlags), ...contents);
};

const negotiation = (name: string) =>
  Buffer.concat([
    le(2, 36, 4, 1, 0),
    le(4, 0),
    bytesOf(`${name} client`, 16),
    le(8, 0),
    le(2, 0x202, 0x210, 0x300, 0x302),
  ]);
const chosenDialect = (name: string) =>
  Buffer.concat([
    ...[le(2, 65, 1, 0x302, 0), bytesOf(`${name} server`, 16), le(4, 7, 1_048_576, 1_048_576, 1_048_576)],
    ...[le(8, 0x1dc0000, 0), le(2, 128, 0), le(4, 0)],
  ]);
const setUp = (token: Buffer) =>
  Buffer.concat([le(2, 25), Buffer.from([0, 1]), le(4, 1, 0), le(2, 88, token.length), le(8, 0), token]);
const isSetUp = (token: Buffer) => Buffer.concat([le(2, 9, 0, token.length > 0 ? 72 : 0, token.length), token]);
const treeConnect = (share: string) => {
  const path = utf16(`\\\\server.test\\${share}`);
  return Buffer.concat([le(2, 9, 0, 72, path.length), path]);
};

/** How a host reaches for a share, from the choice of the dialect to the refusal: what it sends, and what it hears. */
export const smbDialogue = (share: string, name: string): { sent: Buffer[]; answered: Buffer[] } => {
  const sessionId = bytesOf(`${name} session`, 4).readUInt32LE() + 1;
  const { negotiate, setUp: setting, connectTree } = commands;
  return {
    sent: [
      smb({ command: negotiate, number: 0, body: negotiation(name) }),
      smb({ command: setting, number: 1, body: setUp(hello()) }),
      smb({ command: setting, number: 2, sessionId, body: setUp(proof(name, 'backup')) }),
      smb({ command: connectTree, number: 3, sessionId, body: treeConnect(share) }),
    ],
    answered: [
      smb({ command: negotiate, number: 0, status: statuses.success, body: chosenDialect(name) }),
      smb({ command: setting, number: 1, sessionId, status: statuses.moreNeeded, body: isSetUp(challenge(name)) }),
      smb({ command: setting, number: 2, sessionId, status: statuses.success, body: isSetUp(Buffer.alloc(0)) }),
      smb({
        command: connectTree,
        number: 3,
        sessionId,
        status: statuses.accessDenied,
        body: le(2, 9, 0, 0, 0, 0).subarray(0, 9),
      }),
    ],
  };
};
